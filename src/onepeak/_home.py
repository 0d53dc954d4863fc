"""Paths that start with ~, the shell's name for the home folder."""

from pathlib import Path

from onepeak.errors import InputError


def expanded(path: str | Path) -> Path:
    """The path with ~ or ~user replaced by the home folder.

    Example:
        >>> expanded("~/scans") == Path.home() / "scans", expanded("scans~").name
        (True, 'scans~')
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:  # no such user, or a user without a home
        raise InputError(
            f"A path that starts with ~ must name an existing home folder, got {path}: use the absolute path."
        ) from None
