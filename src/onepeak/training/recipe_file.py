"""A recipe from a TOML file or from flags: all that is wrong is said at once, with the file and the key."""

import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from onepeak._registry import unknown_name
from onepeak.errors import InputError
from onepeak.training.recipe import Recipe


def recipe_from_file(path: Path, base: Recipe) -> Recipe:
    """The recipe of a file; what it does not say is taken from `base`.

    A file looks like this::

        epochs = 40
        lr = 3e-4
        [resize]
        short_side = 256
        [augment]
        crop = 224
        vertical_flip = true
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"`--recipe` must be auto, paper or a TOML file, got {path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} must be TOML: {error}.") from error
    return changed(base, content, source=str(path))


def changed(recipe: Recipe, content: Mapping[str, Any], *, source: str) -> Recipe:
    """A recipe with some settings replaced.

    Args:
        recipe: Where to start.
        content: Settings by name; `resize` and `augment` hold settings of their own.
        source: Where they come from, for messages.

    Example:
        >>> changed(Recipe(), {"epoch": 3, "lr": -1.0}, source="my.toml")
        Traceback (most recent call last):
        onepeak.errors.InputError: my.toml: Unknown setting 'epoch'. Did you mean 'epochs'? ...
        my.toml: lr: `lr` must be a finite number > 0, got -1.0.
    """
    problems: list[str] = []
    result: Recipe = _changed(recipe, content, "", problems)
    if problems:
        raise InputError("\n".join(f"{source}: {problem}" for problem in problems))
    return result


def _changed(record: Any, content: Mapping[str, Any], prefix: str, problems: list[str]) -> Any:
    names = [each.name for each in fields(record)]
    values: dict[str, Any] = {}
    for name, value in content.items():
        before = getattr(record, name, None)
        if name not in names:
            problems.append(str(unknown_name("setting", prefix + name, [prefix + known for known in names])))
        elif not is_dataclass(before):
            values[name] = tuple(value) if isinstance(value, list) else value
        elif isinstance(value, Mapping):
            values[name] = _changed(before, value, f"{prefix}{name}.", problems)
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
