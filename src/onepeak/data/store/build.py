"""Builds a store, or finds the one that was built before."""

import os
import shutil
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from onepeak._values import check_integer
from onepeak.data.manifest import ImageArrays, ImageFiles
from onepeak.data.resize import Resize
from onepeak.data.store.failures import (
    StoreError,
    UnreadablePicturesError,
    UnreadablePicturesWarning,
    described,
    write_failed,
)
from onepeak.data.store.images import ImageStore, open_store
from onepeak.data.store.index import StoreIndex, write_index
from onepeak.data.store.key import arrays_key, file_states, files_key
from onepeak.data.store.place import (
    building_folder,
    default_cache_dir,
    only_builder,
    remove_leftovers,
    store_folder,
)
from onepeak.data.store.progress import Progress
from onepeak.data.store.worker import THIS_TIME
from onepeak.data.store.writing import write_arrays, write_files
from onepeak.errors import InputError


def build_store(
    items: ImageFiles | ImageArrays,
    resize: Resize | None = None,
    *,
    bits: int | None = None,
    cache_dir: Path | None = None,
    workers: int | None = None,
    skip_bad: bool = False,
    progress: Progress = None,
) -> ImageStore:
    """Decodes and resizes images once; the next call with the same images and recipe opens what is there.

    A store is found by the root, names, sizes and times of change of its files, so a file that was edited, added or
    removed gives a new one. It is written beside its place and moved there in one step: a build that is killed, at any
    moment, leaves no store, and the next build removes its traces. Several processes may call this at once: one builds,
    the others wait and open the same store. Only its owner can read it.

    Args:
        items: Images on disk or in memory.
        resize: The recipe; without one every image keeps its size.
        bits: How many bits 16-bit image files hold, as in `onepeak.data.decode.decode_picture`.
        cache_dir: Folder for stores; without one, `default_cache_dir()`.
        workers: How many processes decode; without a number, one for each core that this process may use.
        skip_bad: Whether to leave out images that cannot be read, with a warning that lists them.
        progress: A bar (True), none (False), a bar on a terminal (None), or a function of (done, total).

    Raises:
        UnreadablePicturesError: Some images are bad; the message lists all of them. The good ones are kept all the
            same, so that a second call with `skip_bad=True` need not decode them again.
        StoreError: There is no room, a worker died, or a file changed while it was read.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> pictures = ImageArrays(pixels=np.zeros((2, 8, 6, 3), np.uint8))
        >>> store = build_store(pictures, Resize(short_side=3), cache_dir=Path(tempfile.mkdtemp()))
        >>> store[1].shape
        torch.Size([3, 4, 3])
    """
    if not len(items):
        raise InputError("`items` must hold at least one image, got none.")
    workers = num_cores() if workers is None else check_integer("workers", workers, minimum=1)
    resize = Resize() if resize is None else resize
    cache_dir = default_cache_dir() if cache_dir is None else cache_dir
    write: Callable[[Path], StoreIndex]
    root = None
    match items:
        case ImageFiles():
            states = file_states(items)
            key = files_key(items, states, resize, bits)
            write = lambda folder: write_files(folder, items, states, resize, bits, workers, progress)  # noqa: E731
            root = items.root
        case ImageArrays():
            key = arrays_key(items, resize)
            write = lambda folder: write_arrays(folder, items, resize, progress)  # noqa: E731
        case other:
            raise InputError(f"`items` must be ImageFiles or ImageArrays, got {type(other).__name__}.")
    store = found_or_written(cache_dir, key, write, root=root)
    if store.bad:
        if not skip_bad:
            raise UnreadablePicturesError(store.bad, store.num_items)
        warnings.warn(f"{described(store.bad, store.num_items)}\nThey were left out.", UnreadablePicturesWarning, 2)
    return store


def found_or_written(
    cache_dir: Path, key: str, write: Callable[[Path], StoreIndex], *, root: Path | None = None
) -> ImageStore:
    """The store of a key; where it is not there it is written, by one process, and appears in one step.

    Args:
        cache_dir: Folder for stores.
        key: What the store is found by.
        write: Fills a folder with pixels, and gives their table of contents.
        root: Where the files lie, if they are here: one that could not be read for a while outdates the store.
    """
    try:
        cache_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"`cache_dir` must be a folder that can be written to, got {cache_dir}: {error}.") from None
    return _found(cache_dir, key, root) or _built(cache_dir, key, write, root)


def _found(cache_dir: Path, key: str, root: Path | None) -> ImageStore | None:
    try:
        store = open_store(store_folder(cache_dir, key))
    except StoreError:
        return None
    return None if root is not None and _gives_more(store, root) else store


def _gives_more(store: ImageStore, root: Path) -> bool:
    """Whether a file can be read by now that a disk or a network failed to give when the store was built."""
    for picture in store.bad:
        if picture.reason.startswith(THIS_TIME):
            with suppress(OSError):
                (root / picture.path).read_bytes()
                return True
    return False


def _built(cache_dir: Path, key: str, write: Callable[[Path], StoreIndex], root: Path | None) -> ImageStore:
    place, folder = store_folder(cache_dir, key), building_folder(cache_dir, key)
    try:
        remove_leftovers(cache_dir)
        with only_builder(cache_dir, key):
            if store := _found(cache_dir, key, root):  # somebody else built it while we waited
                return store
            if folder.exists():  # an earlier build that was killed
                shutil.rmtree(folder)
            folder.mkdir(mode=0o700)  # others on this machine have no business with the images
            try:
                index = write(folder)
                if not len(index.kept):
                    raise UnreadablePicturesError(index.bad, index.num_items)
                write_index(folder, index)
                for file in folder.iterdir():
                    file.chmod(0o600)
                _sync_folder(folder)
                if place.exists():  # a store that is outdated or was damaged from outside; others may read it till now
                    shutil.rmtree(place)
                folder.rename(place)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            _sync_folder(cache_dir)
    except OSError as error:
        raise write_failed(error, cache_dir) from error
    return open_store(place)


def _sync_folder(folder: Path) -> None:
    """Waits until the names in a folder are on the disk, where the system can say so."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def num_cores() -> int:
    """How many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
