"""The key of a store, a hash of its sources and the recipe, and the folder and lock that belong to it."""

import hashlib
import json
import os
import shutil
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from onepeak._core.files import expanded, locked
from onepeak.data.images.decode import MAX_PIXELS
from onepeak.data.images.resize import Resize
from onepeak.data.images.store.workers import ImageFile
from onepeak.data.manifest import ImageArrays, ImageFiles
from onepeak.errors import InputError

FORMAT = 2
"""Version of the file format and of the decoding; raised when either changes."""


def image_files(items: ImageFiles) -> list[ImageFile]:
    """Returns size and modification time of every file; both are negative for one that is absent or not readable."""
    return [_image_file(os.path.join(items.root, path)) for path in items.paths]  # noqa: PTH118 (a Path each is slow)


def _image_file(path: str) -> ImageFile:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return ImageFile(path, -1, -1)
    readable = os.access(path, os.R_OK)  # so that a file counts as changed once it becomes readable
    return ImageFile(path, status.st_size, status.st_mtime_ns) if readable else ImageFile(path, -2, -2)


def files_key(items: ImageFiles, files: list[ImageFile], resize: Resize, bits: int | None = None) -> str:
    """Returns the key of a store of files: their root, names, sizes and times, in order, and the recipe."""
    content = hashlib.blake2b(digest_size=16)
    content.update(_recipe(resize, MAX_PIXELS, *(() if bits is None else (bits,))))
    content.update(os.fsencode(items.root.resolve()))
    for path, file in zip(items.paths, files, strict=True):
        content.update(b"\0" + os.fsencode(path) + f"\0{file.num_bytes},{file.changed_ns}".encode())
    return content.hexdigest()


def arrays_key(items: ImageArrays, resize: Resize) -> str:
    """Returns the key of a store of images in memory: their values and the recipe."""
    content = hashlib.blake2b(digest_size=16)
    content.update(_recipe(resize, 0))
    content.update(json.dumps(["arrays", *items.pixels.shape]).encode())
    for image in items.pixels:
        content.update(np.ascontiguousarray(image).data)
    return content.hexdigest()


def _recipe(resize: Resize, *others: int) -> bytes:
    recipe = [FORMAT, resize.short_side, resize.only_enlarge, float(resize.scale), *others]
    return json.dumps(recipe, allow_nan=False).encode()


_BUILDING = ".building-"


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
    return cache_dir / f"images-{key}"


def building_folder(cache_dir: Path, key: str) -> Path:
    """Returns the folder in which a store is built; the process that holds the lock of the key owns it."""
    return cache_dir / f"{_BUILDING}{key}"


def only_builder(cache_dir: Path, key: str, *, wait: bool = True) -> AbstractContextManager[bool]:
    """Waits until no other process builds this store, and makes others wait in turn."""
    return locked(cache_dir / f".lock-{key}", wait=wait)


def remove_leftovers(cache_dir: Path) -> None:
    """Deletes the remains of killed builds: unfinished folders whose lock no process holds."""
    for folder in cache_dir.glob(f"{_BUILDING}*"):
        with only_builder(cache_dir, folder.name.removeprefix(_BUILDING), wait=False) as abandoned:
            if abandoned:
                # An orphaned worker may still write its last file; the next build deletes it.
                shutil.rmtree(folder, ignore_errors=True)
