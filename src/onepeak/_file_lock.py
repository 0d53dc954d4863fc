"""File locks that the operating system releases when the process that holds them ends, however it ends."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onepeak.errors import OnepeakError

_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})


class NoLocksError(OnepeakError):
    """The file system does not support file locks."""


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Holds a lock on a file, and creates the file if it does not exist.

    The empty file is never deleted: otherwise two processes could hold locks on different files of the same name.

    Args:
        path: The file.
        wait: Whether to wait until the lock is free.

    Yields:
        Whether the lock is held. Always True with `wait`.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield _lock(descriptor, path, wait=wait)
    finally:
        os.close(descriptor)  # releases the lock


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, path: Path, *, wait: bool) -> bool:  # noqa: ARG001 - Windows always has locks
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            except OSError:  # LK_LOCK gives up after ten seconds
                if not wait:
                    return False
            else:
                return True
else:
    import fcntl

    def _lock(descriptor: int, path: Path, *, wait: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno in _NO_LOCKS:
                raise NoLocksError(
                    f"The file system of {path.parent} has no file locks ({error.strerror}): "
                    "choose a folder on a local disk."
                ) from None
            raise
        return True
