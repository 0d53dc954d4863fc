"""A recipe from a TOML file or from flags. All errors are reported at once, with the file and the key."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from onepeak._registry import unknown_name
from onepeak.data.manifest import Manifest
from onepeak.errors import InputError
from onepeak.training.presets import PAPER, PRESETS, preset
from onepeak.training.recipe import Recipe
from onepeak.training.recipe_source import RECORD, RecipeSource
from onepeak.training.toml_file import read_toml

BASE = "base"
"""The key that names the preset a file starts from."""


def read_recipe(name: str) -> tuple[dict[str, Any], RecipeSource | None]:
    """Reads the settings that `--recipe` names, a preset or a file, and returns where they were given.

    A file looks like this; every line is optional::

        base = "paper"
        epochs = 40
        lr = 3e-4
        [resize]
        short_side = 256
        [augment]
        crop = 224
        vertical_flip = true

    From an experiment file, the table `recipe` is read.

    Example:
        >>> read_recipe("paper")
        ({'base': 'paper'}, None)
    """
    if name in PRESETS:
        return {BASE: name}, None
    content = read_toml(Path(name), wanted="`--recipe` must be auto, paper or a TOML file")
    table = content.get("recipe")
    if not isinstance(table, dict) and "network" in content:
        raise InputError(
            f"{name}: [network] is not part of a recipe: use --backbone and --network, or an experiment file.",
            page="recipes",
        )
    settings, prefix = (table, "recipe.") if isinstance(table, dict) else (content, "")
    base = settings.get(BASE, "auto")
    if base not in PRESETS:
        raise InputError(f"{name}: {prefix}{BASE}: {unknown_name('recipe', str(base), PRESETS)}")
    # What suits the data is checked with the data.
    rest = {key: value for key, value in settings.items() if key != BASE}
    changed(PAPER if base == "paper" else Recipe(), rest, source=name, prefix=prefix)
    return settings, RecipeSource(file=name, prefix=prefix, complete=RECORD in content)


def recipe_for(manifest: Manifest, settings: Mapping[str, Any], *, source: str, prefix: str = "") -> Recipe:
    """Returns the recipe for some data: the preset that the settings name ("auto" by default), changed by the others.

    Args:
        manifest: The data.
        settings: Settings from `read_recipe`.
        source: Where they come from, for messages.
        prefix: Prefix of the keys, for messages.
    """
    try:
        base = preset(settings.get(BASE, "auto"), manifest)
    except InputError as error:
        raise InputError(f"{source}: {prefix}{BASE}: {error}") from error
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
    problems: list[str] = []
    result: Recipe = replaced(recipe, content, prefix, problems)
    if problems:
        raise InputError("\n".join(f"{source}: {problem}" for problem in problems))
    return result


def replaced(record: Any, content: Mapping[str, Any], prefix: str, problems: list[str]) -> Any:
    """Returns a frozen record with some of its values replaced; adds what is wrong with them to `problems`."""
    names = setting_names(record)
    values: dict[str, Any] = {}
    for name, value in content.items():
        before = getattr(record, name, None)
        if name not in names:
            problems.append(str(unknown_name("setting", prefix + name, [prefix + known for known in names])))
        elif not is_dataclass(before):
            values[name] = tuple(value) if isinstance(value, list) else value
        elif isinstance(value, Mapping):
            values[name] = replaced(before, value, f"{prefix}{name}.", problems)
        else:
            problems.append(f"{prefix}{name}: must be a table of settings, got {value!r}.")
    try:
        return replace(record, **values)  # all at once, because some settings are only valid together
    except (InputError, TypeError) as error:
        wrong = [(name, problem) for name in values if (problem := _problem(record, name, values[name]))]
        together = f"{prefix.rstrip('.')}: {error}" if prefix else str(error)
        problems += [f"{prefix}{name}: {problem}" for name, problem in wrong] or [together]
        return record


def setting_names(record: Any) -> list[str]:
    """Returns the names of a record's settings: its fields, except those that only say where it comes from."""
    return [each.name for each in fields(record) if each.compare]


def _problem(record: Any, name: str, value: Any) -> str | None:
    """Returns what is wrong with one setting by itself."""
    try:
        replace(record, **{name: value})
    except (InputError, TypeError) as error:
        return str(error)
    return None
