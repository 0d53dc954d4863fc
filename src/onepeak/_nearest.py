"""The "Did you mean" question in errors about unknown names and missing files."""

import difflib
import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

_NEAR = 0.6
_NEAR_FILES = 0.75
"""Stricter than for names, because most files in a folder share an ending."""
_MOST_FILES = 10_000


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question, with a leading space; empty if no known name is close.

    Args:
        name: The name that was given. Case is ignored.
        known: The allowed names.

    Example:
        >>> did_you_mean("gren", ["red", "green"]), did_you_mean("blue", ["red", "green"])
        (" Did you mean 'green'?", '')
    """
    return _question(name, {each: each for each in known}, _NEAR)


def did_you_mean_file(path: Path) -> str:
    """The question about a missing file or folder, with a leading space; compares it with its siblings.

    Args:
        path: The path that was given. If its folder is missing too, the question is about that folder.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     (Path(folder) / "scans.csv").touch()
        ...     did_you_mean_file(Path(folder) / "scan.csv").endswith("scans.csv'?")
        True
    """
    try:
        if path.exists():  # the error has another cause
            return ""
        while not path.parent.is_dir():
            if path == path.parent:  # the drive or share is missing
                return ""
            path = path.parent
        with os.scandir(path.parent) as entries:
            shown = {entry.name: str(path.parent / entry.name) for entry in islice(entries, _MOST_FILES)}
    except OSError:  # the folder is not readable
        return ""
    return _question(path.name, shown, _NEAR_FILES)


def _question(name: str, shown: dict[str, str], near: float) -> str:
    """Asks about the closest key of `shown`, written as its value."""
    by_lower_case = {known.lower(): text for known, text in shown.items()}
    found = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=near)
    return f" Did you mean {by_lower_case[found[0]]!r}?" if found else ""
