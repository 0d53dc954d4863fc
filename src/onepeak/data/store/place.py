"""The folders of stores, and the lock that allows one builder per store at a time."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onepeak._file_lock import locked
from onepeak._home import expanded
from onepeak.errors import InputError

_BUILDING = ".building-"
_LOCK = ".lock-"


def default_cache_dir() -> Path:
    """Returns the default folder for stores: `$ONEPEAK_CACHE`, or `onepeak` in the user's cache folder."""
    if chosen := os.environ.get("ONEPEAK_CACHE"):
        return expanded(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return expanded(base) / "onepeak"
    try:
        return expanded("~/.cache") / "onepeak"
    except InputError:
        raise InputError(
            "Decoded images are kept in the user's home folder, but there is none: set ONEPEAK_CACHE to a folder."
        ) from None


def store_folder(cache_dir: Path, key: str) -> Path:
    """Returns the folder of a finished store. It is created by one rename, so it is complete or absent."""
    return cache_dir / f"pictures-{key}"


def building_folder(cache_dir: Path, key: str) -> Path:
    """Returns the folder in which a store is built; the process that holds the lock of the key owns it."""
    return cache_dir / f"{_BUILDING}{key}"


@contextmanager
def only_builder(cache_dir: Path, key: str) -> Iterator[None]:
    """Waits until no other process builds this store, and makes others wait in turn."""
    with locked(cache_dir / f"{_LOCK}{key}"):
        yield


def remove_leftovers(cache_dir: Path) -> None:
    """Deletes the remains of killed builds: unfinished folders whose lock no process holds."""
    for folder in cache_dir.glob(f"{_BUILDING}*"):
        with locked(cache_dir / f"{_LOCK}{folder.name.removeprefix(_BUILDING)}", wait=False) as abandoned:
            if abandoned:
                # An orphaned worker may still write its last file; the next build deletes it.
                shutil.rmtree(folder, ignore_errors=True)
