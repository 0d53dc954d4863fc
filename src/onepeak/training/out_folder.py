"""The folder that `--out` names: one sentence where it cannot be made or written to."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onepeak.errors import InputError


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
