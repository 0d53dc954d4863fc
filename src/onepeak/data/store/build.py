"""Builds an image store, or opens one that was built before."""

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
    """Decodes and resizes images once; later calls with the same images and recipe open the existing store.

    A store is identified by the root, names, sizes and modification times of its files, so editing, adding or removing
    a file gives a new store. It is written to a temporary folder and renamed in one step: a killed build leaves no
    store, and the next build removes its remains. Several processes may call this at once: one builds, the others wait
    and open the same store. Only its owner can read it.

    Args:
        items: Images on disk or in memory.
        resize: The recipe; by default every image keeps its size.
        bits: How many bits 16-bit image files hold; see `onepeak.data.decode.decode_picture`.
        cache_dir: Folder for stores, by default `default_cache_dir()`.
        workers: Number of decoding processes, by default one per core that this process may use.
        skip_bad: Whether to leave out images that cannot be read, with a warning that lists them.
        progress: True for a progress bar, False for none, None for a bar only on a terminal, or a function that is
            called with (done, total).

    Raises:
        UnreadablePicturesError: Some images cannot be read; the message lists all of them. The others are stored
            nevertheless, so that a second call with `skip_bad=True` need not decode them again.
        StoreError: The disk is full, a worker died, or a file changed during the build.

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
    """Opens the store with a key; if there is none, one process writes it, and it appears in one step.

    Args:
        cache_dir: Folder for stores.
        key: The key of the store.
        write: Writes the pixels into a folder and returns their table of contents.
        root: The folder of the image files, if they are on this machine. The store is outdated if a file that could
            temporarily not be read is readable now.
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
    """Whether a file can be read now that a disk or network failed to deliver when the store was built."""
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
            if store := _found(cache_dir, key, root):  # another process built it while this one waited
                return store
            if folder.exists():  # an earlier build that was killed
                shutil.rmtree(folder)
            folder.mkdir(mode=0o700)  # the images are private to the user
            try:
                index = write(folder)
                if not len(index.kept):
                    raise UnreadablePicturesError(index.bad, index.num_items)
                write_index(folder, index)
                for file in folder.iterdir():
                    file.chmod(0o600)
                _sync_folder(folder)
                if place.exists():  # outdated, or damaged from outside; others may have read it until now
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
    """Waits until the entries of a folder are on disk, if the system supports it."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def num_cores() -> int:
    """Returns the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
