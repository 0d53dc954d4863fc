"""The table of contents of a store; its key, a hash of its sources and of the recipe; its folder and lock.

Imports NumPy but not torch.
"""

import hashlib
import json
import os
import shutil
import zipfile
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from onepeak._core.files import expanded, locked
from onepeak.data.images.decode import MAX_PIXELS
from onepeak.data.images.resize import Resize
from onepeak.data.images.store.failures import BadImage, StoreError
from onepeak.data.images.store.workers import ImageFile
from onepeak.data.manifest import ImageArrays, ImageFiles
from onepeak.errors import InputError

FORMAT = 3
"""Version of the file format and of the decoding; raised when either changes."""
PIXELS = "pixels.bin"
_ARRAYS = "index.npz"
_HEADER = "store.json"
_COLUMNS = ("sizes", "kept", "digests", "checksums", "originals")


@dataclass(frozen=True, kw_only=True, eq=False)
class StoreIndex:
    """The table of contents of a store; one row per image, in the order of the items."""

    sizes: npt.NDArray[np.int64]
    """Height and width, images x 2."""
    kept: npt.NDArray[np.int64]
    """The item of each image."""
    digests: npt.NDArray[np.uint8]
    """BLAKE2b of the bytes of each file (of the values, for images from memory), images x 16."""
    checksums: npt.NDArray[np.uint32]
    """CRC-32 of the stored pixels of each image."""
    originals: npt.NDArray[np.int64]
    """Height and width of each upright image before it was resized, images x 2."""
    num_items: int
    bad: tuple[BadImage, ...] = ()

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Size of each image in bytes."""
        return self.sizes[:, 0] * self.sizes[:, 1] * 3


def write_index(folder: Path, index: StoreIndex) -> None:
    """Writes the table of contents and waits until it is on disk."""
    with (folder / _ARRAYS).open("wb") as file:
        np.savez(file, **{name: getattr(index, name) for name in _COLUMNS})
        os.fsync(file.fileno())
    header = {
        "format": FORMAT,
        "num_items": index.num_items,
        "num_pictures": len(index.kept),
        "num_bytes": int(index.lengths.sum()),
        "bad": index.bad,
    }
    with (folder / _HEADER).open("w", encoding="ascii") as text:
        json.dump(header, text, indent=1)
        text.flush()
        os.fsync(text.fileno())


def read_index(folder: Path) -> StoreIndex:
    """Reads the table of contents, and checks that it matches the pixels."""
    try:
        header = json.loads((folder / _HEADER).read_text(encoding="ascii"))
        if header["format"] != FORMAT:
            raise StoreError(f"{folder} has format {header['format']}, this version reads {FORMAT}; build it again.")
        with np.load(folder / _ARRAYS, allow_pickle=False) as arrays:
            columns = {name: arrays[name] for name in _COLUMNS}
        bad = tuple(BadImage(*fields) for fields in header["bad"])
        index = StoreIndex(**columns, num_items=header["num_items"], bad=bad)
        num_bytes = (folder / PIXELS).stat().st_size
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise StoreError(f"{folder} is not a complete image store ({error}); delete it and build it again.") from None
    if not num_bytes == index.lengths.sum() == header["num_bytes"]:
        raise StoreError(
            f"{folder} is damaged: {num_bytes} bytes of pixels where {header['num_bytes']} were written; "
            "delete it and build it again."
        )
    return index


def file_states(items: ImageFiles) -> list[ImageFile]:
    """Returns size and modification time of every file; both are negative for one that is absent or not readable."""
    states = []
    for name in items.paths:
        path, size, changed = os.path.join(items.root, name), -1, -1  # noqa: PTH118 (a Path each is slow)
        with suppress(OSError):
            status = os.stat(path)  # noqa: PTH116
            readable = os.access(path, os.R_OK)  # so that a file counts as changed once it becomes readable
            size, changed = (status.st_size, status.st_mtime_ns) if readable else (-2, -2)
        states.append(ImageFile(path, size, changed))
    return states


def store_key(items: ImageFiles | ImageArrays, files: list[ImageFile], resize: Resize, bits: int | None = None) -> str:
    """Returns the key of a store: a hash of the images, then one of the recipe; `files` are the states of files."""
    recipe = [resize.short_side, resize.only_enlarge, float(resize.scale), MAX_PIXELS, bits]
    own = hashlib.blake2b(json.dumps(recipe, allow_nan=False).encode(), digest_size=8).hexdigest()
    if isinstance(items, ImageFiles):
        return f"{_key_of_files(items, files)}-{own}"
    content = hashlib.blake2b(json.dumps([FORMAT, "arrays", *items.pixels.shape]).encode(), digest_size=16)
    for image in items.pixels:
        content.update(np.ascontiguousarray(image).data)
    return f"{content.hexdigest()}-{own}"


def _key_of_files(items: ImageFiles, files: list[ImageFile]) -> str:
    """Returns a hash of the root, names, sizes and times of files, in order."""
    content = hashlib.blake2b(f"{FORMAT}".encode() + os.fsencode(items.root.resolve()), digest_size=16)
    for path, file in zip(items.paths, files, strict=True):
        content.update(b"\0" + os.fsencode(path) + f"\0{file.num_bytes},{file.changed_ns}".encode())
    return content.hexdigest()


def known_of_files(
    items: ImageFiles, column: Literal["originals", "digests"], cache_dir: Path | None = None
) -> dict[int, npt.NDArray[Any]]:
    """Returns what a store of these files, unchanged since and of any recipe, knows of each item that it holds.

    So no file is read again for its size or fingerprint. Empty if there is no such store.
    """
    try:
        folder = store_folder(default_cache_dir() if cache_dir is None else cache_dir, "")
    except InputError:  # without a home folder nothing was stored
        return {}
    stores = f"{folder.name}{_key_of_files(items, file_states(items))}-*"
    for store in sorted(folder.parent.glob(stores)):
        with suppress(StoreError):
            index = read_index(store)
            return dict(zip(index.kept.tolist(), getattr(index, column), strict=True))
    return {}


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
