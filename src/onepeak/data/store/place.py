"""Where stores live, and the lock that gives each of them one builder at a time."""

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onepeak.data.store.failures import StoreError

_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
_BUILDING = ".building-"
_LOCK = ".lock-"


def default_cache_dir() -> Path:
    """The folder for stores when none is given: `$ONEPEAK_CACHE`, or `onepeak` in the user's cache folder."""
    if chosen := os.environ.get("ONEPEAK_CACHE"):
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "onepeak"


def store_folder(cache_dir: Path, key: str) -> Path:
    """The folder of a finished store. It appears by one rename, so it is whole or absent."""
    return cache_dir / f"pictures-{key}"


def building_folder(cache_dir: Path, key: str) -> Path:
    """The folder in which a store grows; whoever holds the lock of the key owns it."""
    return cache_dir / f"{_BUILDING}{key}"


@contextmanager
def only_builder(cache_dir: Path, key: str) -> Iterator[None]:
    """Waits until no other process builds this store, and keeps them waiting meanwhile.

    The operating system drops the lock with the process, however that ends, so a killed builder blocks nobody. The
    empty lock file stays: to delete it would let two processes hold locks of the same name.
    """
    descriptor = os.open(cache_dir / f"{_LOCK}{key}", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _lock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)  # and with it the lock


def remove_leftovers(cache_dir: Path) -> None:
    """Deletes what killed builds left: folders under construction whose lock nobody holds."""
    for folder in cache_dir.glob(f"{_BUILDING}*"):
        descriptor = os.open(cache_dir / f"{_LOCK}{folder.name.removeprefix(_BUILDING)}", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if _lock(descriptor, wait=False):
                # An orphaned worker may be writing its last file; what escapes here goes at the next build.
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, *, wait: bool) -> bool:
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

    def _lock(descriptor: int, *, wait: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno in _NO_LOCKS:
                raise StoreError(
                    f"The file system of `cache_dir` has no file locks ({error.strerror}): give one on a local disk."
                ) from None
            raise
        return True
