"""Finds settings of a recipe that do nothing: for another optimiser or schedule, or for another kind of data."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onepeak.data.manifest import FeatureRows, ImageFiles, Manifest
from onepeak.training.recipe import Recipe

_USED_BY = {
    "momentum": ("optimizer", ("sgd",)),
    "step_every": ("schedule", ("step",)),
    "step_factor": ("schedule", ("step",)),
    "lr_floor": ("schedule", ("cosine", "step")),
}
"""Settings that only some values of another setting use. `Recipe` itself refuses what is wrong at any value, such as
`nesterov` without SGD."""


def without_effect(
    given: Mapping[str, Any], recipes: Sequence[Recipe], manifest: Manifest, *, backbone: str | None = None
) -> Iterator[tuple[str, str]]:
    """Yields the key of every given setting that has no effect, and a message.

    Only what was given counts: a recipe has a momentum even if its optimiser has none.

    Args:
        given: The settings that were given.
        recipes: The recipes that they are part of, none if every method has its own value. A setting has an effect if
            one of them uses it.
        manifest: The data.
        backbone: The backbone that was given; None for the default.

    Example:
        >>> from onepeak.data.biopsies import biopsies
        >>> list(without_effect({"momentum": 0.5}, [Recipe()], biopsies(8)))
        [('momentum', "`momentum` does nothing with optimizer='adamw', got 0.5: leave it out or use optimizer='sgd'.")]
    """
    if not recipes:
        for name, value in given.items():
            yield name, f"`{name}` does nothing where every method has its own, got {value!r}: leave it out."
        return
    for name, (choice, used_by) in _USED_BY.items():
        values = dict.fromkeys(getattr(recipe, choice) for recipe in recipes)
        if name in given and not any(value in used_by for value in values):
            chosen = " and ".join(f"{choice}={value!r}" for value in values)
            instead = " or ".join(f"{choice}={value!r}" for value in used_by)
            yield name, f"`{name}` does nothing with {chosen}, got {given[name]!r}: leave it out or use {instead}."
    yield from _without_effect_on(manifest, given, backbone)


def _without_effect_on(manifest: Manifest, given: Mapping[str, Any], backbone: str | None) -> Iterator[tuple[str, str]]:
    if given.get("bits") is not None and not isinstance(manifest.items, ImageFiles):
        yield "bits", f"`bits` does nothing for data other than image files, got {given['bits']!r}: leave it out."
    if not isinstance(manifest.items, FeatureRows):
        return
    for part in ("resize", "augment"):
        for name, value in given.get(part, {}).items():
            yield f"{part}.{name}", f"`{name}` does nothing for a table, got {value!r}: leave it out."
    if given.get("sync_batch_norm") and backbone in (None, "mlp"):
        yield "sync_batch_norm", "`sync_batch_norm` does nothing with backbone='mlp', got True: leave it out."
