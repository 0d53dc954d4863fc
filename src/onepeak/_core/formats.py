"""TOML and JSON: read with errors that name the file, written so that every reader accepts them."""

import json
import math
import re
import tomllib
from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from onepeak._core.wording import did_you_mean_file
from onepeak.errors import InputError

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def read_toml(path: Path, *, wanted: str) -> dict[str, Any]:
    """Returns the content of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{wanted}, got {path}: {error.strerror}.{did_you_mean_file(path)}") from error
    except (ValueError, RecursionError) as error:  # no TOML, no text, or nested without end
        raise InputError(f"{path} must be TOML: {error}.") from error


def toml_text(content: Mapping[str, Any]) -> str:
    """Returns the text of a TOML file; None values are left out, because TOML has no null.

    Tables become sections, and tables inside lists are written on one line.

    Example:
        >>> print(toml_text({"seed": 0, "root": None, "recipe": {"lr": 0.001, "augment": {"crop": 256}}}))
        seed = 0
        <BLANKLINE>
        [recipe]
        lr = 0.001
        <BLANKLINE>
        [recipe.augment]
        crop = 256
        <BLANKLINE>
    """
    return _section(content, ())


def _section(content: Mapping[str, Any], path: tuple[str, ...]) -> str:
    plain = {name: value for name, value in content.items() if value is not None and not isinstance(value, Mapping)}
    tables = {name: value for name, value in content.items() if isinstance(value, Mapping)}
    head = f"[{'.'.join(_key(name) for name in path)}]\n" if path and (plain or not tables) else ""
    lines = "".join(f"{_key(name)} = {_value(value)}\n" for name, value in plain.items())
    parts = [head + lines, *(_section(table, (*path, name)) for name, table in tables.items())]
    return "\n".join(part for part in parts if part)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Integral():  # including NumPy's, whose repr is not a TOML number
            return repr(int(value))
        case Real():
            return repr(float(value))
        case Mapping():
            inside = ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items() if each is not None)
            return f"{{ {inside} }}" if inside else "{}"
        case list() | tuple():
            items = [_value(each) for each in value]
            if any(isinstance(each, Mapping) for each in value):
                return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
            return f"[{', '.join(items)}]"
        case str() | Path():
            return _quoted(str(value))
        case _:
            raise TypeError(f"TOML has no {type(value).__name__}")


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """Quotes a string as JSON does, and escapes the one control character that JSON leaves unescaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def json_text(content: Any) -> str:
    """Returns JSON text; numbers that JSON cannot represent (NaN and infinities) become null."""
    return json.dumps(_written(content), indent=2, allow_nan=False)


def _written(content: Any) -> Any:
    if not isinstance(content, bool | int) and isinstance(content, Real):  # including NumPy's
        content = int(content) if isinstance(content, Integral) else float(content)
    if isinstance(content, dict):
        return {name: _written(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_written(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
