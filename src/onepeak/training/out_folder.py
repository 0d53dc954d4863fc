"""The folder that `--out` names: one sentence where it cannot be made or written to, or holds what is not ours."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onepeak._listing import listed
from onepeak.errors import InputError

_SHOWN = 3
"""Other files that a message names."""


def check_out(folder: Path) -> None:
    """Refuses a place where nothing can be written, as far as that is seen without making it.

    Args:
        folder: A new folder, or one that is there.
    """
    with _refused(folder):
        nearest = next(place for place in (folder, *folder.parents) if place.exists())
        if not nearest.is_dir():
            raise InputError(f"`--out` must be a folder, got {folder} with the file {nearest}.")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def refuse_others(folder: Path) -> None:
    """Refuses a folder that holds anything but hidden files, of which our locks and unfinished files are some.

    Args:
        folder: A new folder, or one without a run or comparison of ours.
    """
    with _refused(folder):
        inside = folder.iterdir() if folder.is_dir() else ()
        others = sorted(each.name for each in inside if not each.name.startswith("."))
    if others:
        raise InputError(
            f"`--out` {folder} holds other files ({listed(others, limit=_SHOWN)}): give a new or an empty folder."
        )


def make_out(folder: Path) -> None:
    """Makes the folder where it is not there.

    Args:
        folder: Where to.
    """
    with _refused(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def _refused(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"`--out` must be a folder that can be made and written to, got {folder}: {error.strerror}."
        ) from None
