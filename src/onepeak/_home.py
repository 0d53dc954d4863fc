"""Paths that begin with ~, as shells write home folders."""

from pathlib import Path

from onepeak.errors import InputError


def expanded(path: str | Path) -> Path:
    """The path with the home folder in place of ~ or ~user.

    Example:
        >>> expanded("~/scans") == Path.home() / "scans", expanded("scans~").name
        (True, 'scans~')
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:  # no such user, or a user without a home
        raise InputError(
            f"A path that begins with ~ must begin with a home folder, got {path}: write the absolute path."
        ) from None
