"""A recipe from the settings of a TOML file or of flags. All errors are reported at once, with the file and the key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any

from onepeak._core.registry import unknown_name
from onepeak.data.manifest import FeatureRows, ImageFiles, Manifest
from onepeak.errors import InputError, together
from onepeak.training.presets import preset
from onepeak.training.recipe import Recipe

BASE = "base"
"""The key that names the preset a file starts from."""

NOT_A_SETTING = MappingProxyType({"setting": False})
"""Metadata of a record's field that no file can set, such as where the record was read from."""


def recipe_for(manifest: Manifest, settings: Mapping[str, Any], *, source: str, prefix: str = "") -> Recipe:
    """Returns the recipe for some data: the preset that the settings name ("auto" by default), changed by the others.

    Args:
        manifest: The data.
        settings: Settings by name.
        source: Where they come from, for messages.
        prefix: Prefix of the keys, for messages.
    """
    try:
        base = preset(settings.get(BASE, "auto"), manifest)
    except InputError as error:
        raise error.at(f"{prefix}{BASE}", file=source) from error
    return changed(base, {name: settings[name] for name in settings if name != BASE}, source=source, prefix=prefix)


def changed(recipe: Recipe, content: Mapping[str, Any], *, source: str, prefix: str = "") -> Recipe:
    """Returns a recipe with some settings replaced.

    Args:
        recipe: The recipe to start from.
        content: Settings by name; `resize` and `augment` are tables of settings.
        source: Where they come from, for messages.
        prefix: Prefix of the keys, for messages.

    Example:
        >>> changed(Recipe(), {"epoch": 3, "lr": -1.0}, source="my.toml")
        Traceback (most recent call last):
        onepeak.errors.InputError: my.toml: Unknown setting 'epoch'. Did you mean 'epochs'? ...
        my.toml: lr: `lr` must be a finite number > 0, got -1.0.
    """
    problems: list[InputError] = []
    result: Recipe = replaced(recipe, content, prefix, problems)
    if problems:
        raise together(problems).at(file=source)
    return result


def replaced(record: Any, content: Mapping[str, Any], prefix: str, problems: list[InputError]) -> Any:
    """Returns a frozen record with some of its values replaced; adds what is wrong with them to `problems`."""
    names = setting_names(record)
    values: dict[str, Any] = {}
    for name, value in content.items():
        before = getattr(record, name, None)
        if name not in names:
            problems.append(unknown_name("setting", prefix + name, [prefix + known for known in names]))
        elif not is_dataclass(before):
            values[name] = tuple(value) if isinstance(value, list) else value
        elif isinstance(value, Mapping):
            values[name] = replaced(before, value, f"{prefix}{name}.", problems)
        else:
            problems.append(InputError(f"must be a table of settings, got {value!r}.", key=prefix + name))
    try:
        return replace(record, **values)  # all at once, because some settings are only valid together
    except (InputError, TypeError) as error:
        wrong = [
            problem.at(prefix + name)
            for name in values
            if (problem := _problem(record, name, values[name])) is not None
        ]
        problems += wrong or [_input_error(error).at(prefix.rstrip("."))]
        return record


def setting_names(record: Any) -> list[str]:
    """Returns the names of a record's settings: its fields, except those marked `NOT_A_SETTING`."""
    return [each.name for each in fields(record) if each.metadata != NOT_A_SETTING]


def _problem(record: Any, name: str, value: Any) -> InputError | None:
    """Returns what is wrong with one setting by itself."""
    try:
        replace(record, **{name: value})
    except (InputError, TypeError) as error:
        return _input_error(error)
    return None


def _input_error(error: InputError | TypeError) -> InputError:
    return error if isinstance(error, InputError) else InputError(str(error))


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
) -> Iterator[InputError]:
    """Yields an error for every given setting that has no effect, with its key.

    Only what was given counts: a recipe has a momentum even if its optimiser has none.

    Args:
        given: The settings that were given.
        recipes: The recipes that they are part of, none if every method has its own value. A setting has an effect if
            one of them uses it.
        manifest: The data.
        backbone: The backbone that was given; None for the default.

    Example:
        >>> from onepeak.data.datasets.biopsies import biopsies
        >>> [print(problem) for problem in without_effect({"momentum": 0.5}, [Recipe()], biopsies(8))]
        momentum: `momentum` does nothing with optimizer='adamw', got 0.5: leave it out or use optimizer='sgd'.
        [None]
    """
    if not recipes:
        for name, value in given.items():
            yield _useless(name, "where every method has its own", value)
        return
    for name, (choice, used_by) in _USED_BY.items():
        values = dict.fromkeys(getattr(recipe, choice) for recipe in recipes)
        if name in given and not any(value in used_by for value in values):
            chosen = " and ".join(f"{choice}={value!r}" for value in values)
            instead = " or ".join(f"{choice}={value!r}" for value in used_by)
            yield _useless(name, f"with {chosen}", given[name], instead=f" or use {instead}")
    yield from _without_effect_on(manifest, given, backbone)


def _without_effect_on(manifest: Manifest, given: Mapping[str, Any], backbone: str | None) -> Iterator[InputError]:
    if given.get("bits") is not None and not isinstance(manifest.items, ImageFiles):
        yield _useless("bits", "for data other than image files", given["bits"])
    if not isinstance(manifest.items, FeatureRows):
        return
    for part in ("resize", "augment"):
        for name, value in given.get(part, {}).items():
            yield _useless(name, "for a table", value).at(f"{part}.{name}")
    if given.get("sync_batch_norm") and backbone in (None, "mlp"):
        yield _useless("sync_batch_norm", "with backbone='mlp'", True)


def _useless(name: str, why: str, value: object, *, instead: str = "") -> InputError:
    message = f"`{name}` does nothing {why}, got {value!r}: leave it out{instead}."
    return InputError(message, argument=name, key=name)
