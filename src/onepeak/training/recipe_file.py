"""A recipe from the settings of a TOML file or of flags. All errors are reported at once, with the file and the key."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any

from onepeak._registry import unknown_name
from onepeak.data.manifest import Manifest
from onepeak.errors import InputError
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
    """Returns the names of a record's settings: its fields, except those marked `NOT_A_SETTING`."""
    return [each.name for each in fields(record) if each.metadata != NOT_A_SETTING]


def _problem(record: Any, name: str, value: Any) -> str | None:
    """Returns what is wrong with one setting by itself."""
    try:
        replace(record, **{name: value})
    except (InputError, TypeError) as error:
        return str(error)
    return None
