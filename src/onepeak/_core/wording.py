"""Lists, counts, durations and "did you mean" in messages."""

import difflib
import os
import re
from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that command a terminal or turn text round; tabs and ends of lines are not among them."""


def visible(text: str) -> str:
    r"""Returns the text with control characters written out, so that a name from a file cannot command a terminal.

    Example:
        >>> visible("mild\x1b[2J")
        'mild\\x1b[2J'
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def listed(names: Iterable[object], *, limit: int = 10) -> str:
    """Names separated by commas; beyond `limit` names, only the number left out.

    Example:
        >>> listed(["a", "b", "c", "d"], limit=2)
        'a, b and 2 more'
    """
    every = [str(name) for name in names]
    rest = len(every) - limit
    return ", ".join(every[:limit]) + (f" and {rest:,} more" if rest > 0 else "")


def counted(number: int, noun: str) -> str:
    """A count with its noun, in the plural unless the count is 1.

    Example:
        >>> counted(1, "image"), counted(1200, "class")
        ('1 image', '1,200 classes')
    """
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def counted_splits(places: Collection[tuple[int, int]]) -> str:
    """How often data are split, and into how many folds in all where a split has several.

    Example:
        >>> counted_splits([(0, 0), (1, 0)]), counted_splits([(0, 0), (0, 1)])
        ('2 splits', '2 folds')
        >>> counted_splits([(0, 0), (0, 1), (1, 0), (1, 1)])
        '2 splits (4 folds)'
    """
    num_folds, num_splits = len(set(places)), len({split for split, _ in places})
    if num_splits == num_folds:
        return counted(num_splits, "split")
    folds = counted(num_folds, "fold")
    return folds if num_splits == 1 else f"{counted(num_splits, 'split')} ({folds})"


def duration(seconds: float) -> str:
    """A duration in its two largest units.

    Example:
        >>> [duration(seconds) for seconds in (7.2, 125, 7380, 190000)]
        ['7 s', '2 min 5 s', '2 h 3 min', '2 d 4 h']
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400:,} d {whole % 86400 // 3600} h"


_NEAR = 0.6
_NEAR_FILES = 0.75
"""Stricter than for names, because most files in a folder share an ending."""
_MOST_FILES = 10_000


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question, with a leading space; empty if no known name is close."""
    return _question(name, {each: each for each in known}, _NEAR)


def did_you_mean_file(path: Path) -> str:
    """The question about a missing file or folder, with a leading space; compares it with its siblings."""
    try:
        if path.exists():  # the error has another cause
            return ""
        while not path.parent.is_dir():
            if path == path.parent:  # the drive or share is missing
                return ""
            path = path.parent
        with os.scandir(path.parent) as entries:
            names = {entry.name: str(path.parent / entry.name) for entry in islice(entries, _MOST_FILES)}
    except OSError:  # the folder is not readable
        return ""
    return _question(path.name, names, _NEAR_FILES)


def _question(name: str, names: dict[str, str], near: float) -> str:
    """Asks about the closest key of `names`, written as its value."""
    by_lower_case = {known.lower(): text for known, text in names.items()}
    found = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=near)
    return f" Did you mean {by_lower_case[found[0]]!r}?" if found else ""
