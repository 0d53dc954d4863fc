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
    for name, value in content.items():
        if name not in names:
            problems.append(str(unknown_name("setting", prefix + name, [prefix + known for known in names])))
            continue
        before = getattr(record, name)
        if is_dataclass(before) and not isinstance(value, Mapping):
            problems.append(f"{prefix}{name}: must be a table of settings, got {value!r}.")
            continue
        try:
            if is_dataclass(before):
                value = _changed(before, value, f"{prefix}{name}.", problems)
            record = replace(record, **{name: tuple(value) if isinstance(value, list) else value})
        except (InputError, TypeError) as error:
            problems.append(f"{prefix}{name}: {error}")
    return record
