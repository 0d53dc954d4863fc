"""The question in an error about a name or a file that is not there: is the nearest one meant?"""

import difflib
import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

_NEAR = 0.6
_NEAR_FILES = 0.75
"""More than of names, as most files of a folder end alike."""
_MOST_FILES = 10_000


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question, after a space; empty where no known name is near.

    Args:
        name: What was given; upper and lower case are alike.
        known: What could have been given.

    Example:
        >>> did_you_mean("gren", ["red", "green"]), did_you_mean("blue", ["red", "green"])
        (" Did you mean 'green'?", '')
    """
    return _question(name, {each: each for each in known}, _NEAR)


def did_you_mean_file(path: Path) -> str:
    """The question about a file or folder that is not there, among those of its folder, after a space.

    Args:
        path: What was given. Where its folder is not there either, that is asked about.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     (Path(folder) / "scans.csv").touch()
        ...     did_you_mean_file(Path(folder) / "scan.csv").endswith("scans.csv'?")
        True
    """
    try:
        if path.exists():  # what is wrong with it is something else
            return ""
        while not path.parent.is_dir():
            if path == path.parent:  # a drive or share that is not there
                return ""
            path = path.parent
        with os.scandir(path.parent) as entries:
            shown = {entry.name: str(path.parent / entry.name) for entry in islice(entries, _MOST_FILES)}
    except OSError:  # a folder that may not be looked into
        return ""
    return _question(path.name, shown, _NEAR_FILES)


def _question(name: str, shown: dict[str, str], near: float) -> str:
    """About the nearest of some names, as it is shown."""
    by_lower_case = {known.lower(): text for known, text in shown.items()}
    found = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=near)
    return f" Did you mean {by_lower_case[found[0]]!r}?" if found else ""
