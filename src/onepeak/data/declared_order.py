"""The order of the classes as declared by the user: names, a range of integers, or a file with one name per line."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from onepeak._listing import listed
from onepeak._nearest import did_you_mean_file
from onepeak.data.label_key import label_key
from onepeak.data.text_file import read_text
from onepeak.errors import InputError

Order: TypeAlias = str | Path | range | Sequence[str] | Sequence[int]
"""`"a,b,c"`, `"0..69"`, the path of a `.txt` file, or the names themselves; lowest first."""

CLASSES_FILE = "classes.txt"
_RANGE = re.compile(r"\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*")
_MOST_CLASSES = 100_000


def declared_order(order: Order, *, argument: str = "order") -> tuple[str, ...]:
    """Returns the names of the classes, lowest first.

    Args:
        order: See `Order`.
        argument: The name of the argument, for messages.

    Example:
        >>> declared_order("low, middle, high")
        ('low', 'middle', 'high')
        >>> declared_order("3..6")
        ('3', '4', '5', '6')
    """
    match order:
        case Path():
            names = _read_classes(order)
        case str() if order.strip().endswith(".txt"):
            names = _read_classes(Path(order.strip()))
        case str():
            names = _range(order, argument) or tuple(name.strip() for name in order.split(","))
        case set() | frozenset():
            raise InputError(f"`{argument}` must be a sequence, lowest first, got a set, which has no order.")
        case _:
            names = tuple(str(name).strip() for name in order)
    if "" in names:
        raise InputError(f"`{argument}` must not have an empty name, got {', '.join(map(repr, names))}.")
    if len(names) < 2:
        words = " ".join(names).split()
        commas = f": write {','.join(words)}" if len(words) > 1 else ""
        raise InputError(
            f"`{argument}` must name at least 2 classes, lowest first, got {' '.join(names) or 'none'}{commas}."
        )
    counts = Counter(map(label_key, names))
    if twice := dict.fromkeys(name for name in names if counts[label_key(name)] > 1):
        raise InputError(f"`{argument}` must name each class once, got {listed(twice)} more than once.")
    return names


def classes_file(folder: Path) -> Path | None:
    """Returns the `classes.txt` of a folder, or None if there is none."""
    path = folder / CLASSES_FILE
    return path if path.is_file() else None


def _range(text: str, argument: str) -> tuple[str, ...] | None:
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2])
    if not first < last < first + _MOST_CLASSES:
        raise InputError(
            f"`{argument}` must be an ascending range of at most {_MOST_CLASSES:,} integers, got {text.strip()}."
            + (f" Did you mean {last}..{first}?" if last < first else "")
        )
    return tuple(str(value) for value in range(first, last + 1))


def _read_classes(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        raise InputError(f"There is no file {path} to read the order of the classes from.{did_you_mean_file(path)}")
    names = tuple(line.strip() for line in read_text(path).splitlines() if line.strip())
    if len(names) == 1:
        names = _range(names[0], str(path)) or names
    if len(names) < 2:
        raise InputError(f"{path} must name at least 2 classes, one per line, lowest first, got {len(names)}.")
    return names
