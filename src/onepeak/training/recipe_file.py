"""A recipe from a TOML file or from flags: all that is wrong is said at once, with the file and the key."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from onepeak._registry import unknown_name
from onepeak.data.manifest import Manifest
from onepeak.errors import InputError
from onepeak.training.presets import PRESETS, preset
from onepeak.training.recipe import Recipe
from onepeak.training.toml_file import read_toml

BASE = "base"
"""The key by which a file names the preset that it starts from."""


def read_recipe(name: str) -> dict[str, Any]:
    """What `--recipe` names, as settings: a preset or a file.

    A file looks like this, and may leave out anything::

        base = "paper"
        epochs = 40
        lr = 3e-4
        [resize]
        short_side = 256
        [augment]
        crop = 224
        vertical_flip = true

    Of the file of an experiment it is the table `recipe`.

    Example:
        >>> read_recipe("paper")
        {'base': 'paper'}
    """
    if name in PRESETS:
        return {BASE: name}
    content = read_toml(Path(name), wanted="`--recipe` must be auto, paper or a TOML file")
    table = content.get("recipe")
    if isinstance(table, dict):
        return table
    if "network" in content:
        raise InputError(
            f"{name}: [network] is no part of a recipe: say it with --backbone and --network, or in the file of an "
            "experiment.",
            page="recipes",
        )
    return content


def recipe_for(manifest: Manifest, settings: Mapping[str, Any], *, source: str, prefix: str = "") -> Recipe:
    """The recipe that settings make for some data: their preset (what suits the data, if they name none), changed.

    Args:
        manifest: The data.
        settings: As `read_recipe` gives them.
        source: Where they come from, for messages.
        prefix: What stands before the keys there.
    """
    try:
        base = preset(settings.get(BASE, "auto"), manifest)
    except InputError as error:
        raise InputError(f"{source}: {prefix}{BASE}: {error}") from error
    return changed(base, {name: settings[name] for name in settings if name != BASE}, source=source, prefix=prefix)


def changed(recipe: Recipe, content: Mapping[str, Any], *, source: str, prefix: str = "") -> Recipe:
    """A recipe with some settings replaced.

    Args:
        recipe: Where to start.
        content: Settings by name; `resize` and `augment` hold settings of their own.
        source: Where they come from, for messages.
        prefix: What stands before the keys there.

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
    """A frozen record with some of its values replaced; what is wrong with them is added to `problems`."""
    names = [each.name for each in fields(record)]
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
        return replace(record, **values)  # all at once, for some settings only go together
    except (InputError, TypeError) as error:
        wrong = [(name, problem) for name in values if (problem := _problem(record, name, values[name]))]
        problems += [f"{prefix}{name}: {problem}" for name, problem in wrong] or [f"{prefix.rstrip('.')}: {error}"]
        return record


def _problem(record: Any, name: str, value: Any) -> str | None:
    """What is wrong with one setting by itself."""
    try:
        replace(record, **{name: value})
    except (InputError, TypeError) as error:
        return str(error)
    return None
