"""Locks on files that the operating system drops with the process that holds them, however it ends."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onepeak.errors import OnepeakError

_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})


class NoLocksError(OnepeakError):
    """The file system has no file locks."""


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Holds the lock of a file, which is made where it is not there.

    The empty file stays: to delete it would let two processes hold locks of the same name.

    Args:
        path: The file.
        wait: Whether to wait until nobody else holds the lock.

    Yields:
        Whether the lock is held; always, after a wait.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield _lock(descriptor, path, wait=wait)
    finally:
        os.close(descriptor)  # and with it the lock


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
                    "give a folder on a local disk."
                ) from None
            raise
        return True
