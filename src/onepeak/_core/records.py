"""Files of ours become records: dataclasses, every key and bound checked, so that a damaged file is one clear error."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from reprlib import repr as shown
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from onepeak.errors import InputError, first_line


@dataclass(frozen=True)
class Within:
    """The bounds of a number, both included: `Annotated[int, Within(1, 10)]`."""

    lowest: float
    highest: float = 2**53


Count: TypeAlias = Annotated[int, Within(0)]
MAX_CLASSES = 100_000
"""More than any scale has: a file that says more would take memory without bound."""
NumClasses: TypeAlias = Annotated[int, Within(2, MAX_CLASSES)]
_ANY = {int: Within(-(2**63), 2**63 - 1), float: Within(-sys.float_info.max, sys.float_info.max)}
R = TypeVar("R")


def read_json(path: Path, *, fix: str = "") -> dict[str, Any]:
    """Reads the object in a JSON file; `fix` says what to do about a damaged one.

    Raises:
        FileNotFoundError: There is no such file, which can be right.
        InputError: It cannot be read, or holds no JSON object.
    """
    try:
        content = json.loads(path.read_bytes(), parse_constant=_refuse)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:  # no JSON, no text, or nested without end
        raise InputError(f"{path} is damaged ({first_line(error)}).", fix=fix) from error
    if not isinstance(content, dict):
        raise InputError(f"{path} must hold a JSON object, got {shown(content)}.", fix=fix)
    return content


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def record_of(kind: type[R], content: object, *, file: Path, fix: str = "", extra: bool = False) -> R:
    """Returns the record in the content of a file, as read from JSON or TOML.

    Lists become tuples where the record has tuples, and null becomes NaN where it has a plain `float`, as `json_text`
    writes it. With `extra`, keys that the record lacks are left out.

    Example:
        >>> @dataclass
        ... class Size:
        ...     height: Count
        ...     width: Count = 1
        >>> record_of(Size, {"height": 3}, file=Path("size.json"))
        Size(height=3, width=1)
        >>> record_of(Size, {"height": -3}, file=Path("size.json"))
        Traceback (most recent call last):
        onepeak.errors.InputError: size.json: height: must be an integer from 0 to 9007199254740992, got -3.
    """
    try:
        return _value(kind, content, "", extra)  # type: ignore[no-any-return]
    except InputError as error:
        raise InputError(error.message, key=error.key, file=str(file), fix=fix or error.fix) from error


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _record(kind: Any, given: object, key: str, extra: bool) -> Any:
    if not isinstance(given, Mapping):
        raise _wrong("a table of keys", given, key)
    names = {each.name: each for each in fields(kind) if each.init}
    for name in () if extra else given:
        if name not in names:
            raise InputError("is not known here: it needs a newer onepeak.", key=_inside(key, name))
    hints = _hints(kind)
    for name, each in names.items():
        if name not in given and each.default is MISSING and each.default_factory is MISSING:
            raise InputError("must be given.", key=_inside(key, name))
    values = {name: _value(hints[name], given[name], _inside(key, name), extra) for name in names if name in given}
    try:
        return kind(**values)
    except InputError as error:
        raise error.at(_inside(key, error.key or error.argument or "")) from error


def _value(kind: Any, given: Any, key: str, extra: bool) -> Any:
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return given
    if is_dataclass(kind):
        return _record(kind, given, key, extra)
    if origin is Annotated:
        return _number(args[0], given, key, args[1])
    if kind in (int, float):
        return _number(kind, given, key, _ANY[kind])
    if kind in (str, bool, NoneType):
        if isinstance(given, kind):
            return given
        raise _wrong({str: "text", bool: "true or false", NoneType: "null"}[kind], given, key)
    if origin is Literal:
        if isinstance(given, str | int) and given in args:
            return given
        raise _wrong(f"one of {', '.join(map(repr, args))}", given, key)
    if origin in (Union, UnionType):
        if given is None and NoneType in args:
            return None
        *others, last = (each for each in args if each is not NoneType)
        for each in others:
            try:
                return _value(each, given, key, extra)
            except InputError:
                continue
        return _value(last, given, key, extra)
    if origin in (tuple, list):
        if not isinstance(given, list | tuple):
            raise _wrong("a list", given, key)
        kinds: Sequence[Any] = args[:1] * len(given) if origin is list or args[-1] is ... else args
        if len(kinds) != len(given):
            raise _wrong(f"a list of {len(kinds)}", given, key)
        pairs = zip(kinds, given, strict=True)
        return origin(_value(each, value, f"{key}[{place}]", extra) for place, (each, value) in enumerate(pairs))
    if origin is dict:
        if not isinstance(given, dict):
            raise _wrong("a table of keys", given, key)
        return {name: _value(args[1], value, _inside(key, name), extra) for name, value in given.items()}
    raise TypeError(f"a record cannot have a {kind}")


def _number(kind: Any, given: Any, key: str, bounds: Within) -> Any:
    if kind is float and given is None and bounds is _ANY[float]:
        return math.nan
    right = isinstance(given, int if kind is int else int | float) and not isinstance(given, bool)
    if not right or not bounds.lowest <= given <= bounds.highest:
        limits = "" if bounds is _ANY[kind] else f" from {bounds.lowest} to {bounds.highest}"
        raise _wrong(("an integer" if kind is int else "a finite number") + limits, given, key)
    return kind(given)


def _wrong(wanted: str, given: object, key: str) -> InputError:
    return InputError(f"must be {wanted}, got {shown(given)}.", key=key)


def _inside(key: str, name: str) -> str:
    return f"{key}.{name}".strip(".")
