"""Builds an image store, opens one that was built before, or puts one together that was sent in pieces."""

import errno
import hashlib
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np

from onepeak._core.values import check_integer
from onepeak.data.images.decode import Image
from onepeak.data.images.resize import Resize
from onepeak.data.images.store.failures import (
    BadImage,
    StoreError,
    UnreadableImagesError,
    UnreadableImagesWarning,
    described,
)
from onepeak.data.images.store.images import ImageStore, open_store
from onepeak.data.images.store.index import (
    PIXELS,
    StoreIndex,
    building_folder,
    default_cache_dir,
    file_states,
    only_builder,
    remove_leftovers,
    store_folder,
    store_key,
    write_index,
)
from onepeak.data.images.store.workers import (
    DIGEST_BYTES,
    DecodedImage,
    ImageFile,
    Task,
    append_image,
    run_tasks,
)
from onepeak.data.manifest import ImageArrays, ImageFiles
from onepeak.errors import InputError

Progress: TypeAlias = bool | Callable[[int, int], None] | None
"""True: a bar; False: none; None: a bar only on a terminal; a function: called with (done, total)."""


@contextmanager
def progress_of(progress: Progress, *, title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yields the function to call with the number of images done so far."""
    if callable(progress):
        report = progress
        yield lambda done: report(done, total)
        return
    if not (progress or (progress is None and sys.stderr.isatty())):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Bar(*columns, console=console, transient=console.is_terminal) as bar:  # it remains in a log file
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)


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
        bits: How many bits 16-bit image files hold; see `onepeak.data.images.decode.decode_image`.
        cache_dir: Folder for stores, by default `default_cache_dir()`.
        workers: Number of decoding processes, by default one per core that this process may use.
        skip_bad: Whether to leave out images that cannot be read, with a warning that lists them.
        progress: See `Progress`.

    Raises:
        UnreadableImagesError: Some images cannot be read; the message lists all of them. The others are stored
            nevertheless, so that a second call with `skip_bad=True` need not decode them again.
        StoreError: The disk is full or fails, a worker died, or a file changed during the build.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> images = ImageArrays(pixels=np.zeros((2, 8, 6, 3), np.uint8))
        >>> store = build_store(images, Resize(short_side=3), cache_dir=Path(tempfile.mkdtemp()))
        >>> store[1].shape
        torch.Size([3, 4, 3])
    """
    if not len(items):
        raise InputError("`items` must hold at least one image, got none.")
    workers = num_cores() if workers is None else check_integer("workers", workers, minimum=1)
    resize = Resize() if resize is None else resize
    cache_dir = default_cache_dir() if cache_dir is None else cache_dir
    match items:
        case ImageFiles():
            files, names = file_states(items), items.paths
        case ImageArrays():
            files, names = [], tuple(map(str, range(len(items))))
        case other:
            raise InputError(f"`items` must be ImageFiles or ImageArrays, got {type(other).__name__}.")
    key = store_key(items, files, resize, bits)

    def write(folder: Path) -> StoreIndex:
        answers: list[DecodedImage] = []
        with (
            (folder / PIXELS).open("wb") as pixels,
            progress_of(progress, title="Decoding images", total=len(items)) as advance,
        ):
            if isinstance(items, ImageFiles):
                finished = _decoded(pixels, folder, files, resize, bits, workers)
            else:
                arrays = map(np.ascontiguousarray, items.pixels)
                finished = ([append_image(pixels, Image.fromarray(each), each.tobytes(), resize)] for each in arrays)
            with closing(finished):
                for some in finished:
                    answers += some
                    advance(len(answers))
            pixels.flush()
            os.fsync(pixels.fileno())
        return _index(names, answers)

    store = opened_or_written(cache_dir, key, write)
    if store.bad:
        if not skip_bad:
            raise UnreadableImagesError(store.bad, store.num_items)
        warnings.warn(f"{described(store.bad, store.num_items)}\nThey were left out.", UnreadableImagesWarning, 2)
    return store


def opened_or_written(cache_dir: Path, key: str, write: Callable[[Path], StoreIndex]) -> ImageStore:
    """Opens the store with a key; if there is none, one process writes it, and it appears in one step.

    `write` writes the pixels into a folder and returns their table of contents.
    """
    try:
        cache_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"`cache_dir` must be a folder that can be written to, got {cache_dir}: {error}.") from None
    finished, folder = store_folder(cache_dir, key), building_folder(cache_dir, key)
    with suppress(StoreError):
        return open_store(finished)
    try:
        remove_leftovers(cache_dir)
        with only_builder(cache_dir, key):
            with suppress(StoreError):  # another process built it while this one waited
                return open_store(finished)
            if folder.exists():  # an earlier build that was killed
                shutil.rmtree(folder)
            folder.mkdir(mode=0o700)  # the images are private to the user
            try:
                index = write(folder)
                if not len(index.kept):
                    raise UnreadableImagesError(index.bad, index.num_items)
                write_index(folder, index)
                for file in folder.iterdir():
                    file.chmod(0o600)
                if finished.exists():  # damaged from outside
                    shutil.rmtree(finished)
                folder.rename(finished)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            message = (
                f"No room for the image store in {cache_dir} ({error.strerror}): free some space, or give another "
                "`cache_dir`. Nothing was left behind."
            )
        else:
            message = f"The image store could not be written in {cache_dir}: {error}. Give another `cache_dir`."
        raise StoreError(message) from error
    return open_store(finished)


def num_cores() -> int:
    """Returns the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _decoded(
    pixels: IO[bytes], folder: Path, files: list[ImageFile], resize: Resize, bits: int | None, workers: int
) -> Generator[list[DecodedImage], None, None]:
    """Decodes all files into one, part by part and in order, with any number of workers."""
    size = max(1, min(32, len(files) // (16 * workers)))  # small tasks balance the workers
    starts = range(0, len(files), size)
    tasks = (Task(folder / f"part-{start}", files[start : start + size], resize, bits) for start in starts)
    with closing(run_tasks(tasks, workers=min(workers, len(starts)), log=folder / "log")) as finished:
        for task, answers in finished:
            with task.part.open("rb") as part:
                shutil.copyfileobj(part, pixels, 1 << 20)
            task.part.unlink()
            yield answers
    (folder / "log").unlink(missing_ok=True)


def _index(paths: tuple[str, ...], answers: list[DecodedImage]) -> StoreIndex:
    changed = [path for path, answer in zip(paths, answers, strict=True) if answer.outcome == "changed"]
    if changed:
        raise StoreError(
            f"{len(changed)} files changed while the store was built, {changed[0]} among them; build it again when "
            "nothing writes to them."
        )
    kept = [item for item, answer in enumerate(answers) if answer.outcome == "kept"]
    digests = np.frombuffer(bytes.fromhex("".join(answers[item].digest for item in kept)), np.uint8)
    return StoreIndex(
        sizes=np.array([answers[item].size for item in kept], np.int64).reshape(-1, 2),
        originals=np.array([answers[item].original for item in kept], np.int64).reshape(-1, 2),
        kept=np.array(kept, np.int64),
        digests=digests.reshape(-1, DIGEST_BYTES),
        checksums=np.array([answers[item].checksum for item in kept], np.uint32),
        num_items=len(paths),
        bad=tuple(
            BadImage(item, paths[item], answer.reason) for item, answer in enumerate(answers) if answer.outcome == "bad"
        ),
    )


_PIECE = 64 * 2**20
"""Size of a piece in bytes: small enough for any training machine, large enough to keep the number of pieces low."""


def pieces_of(store: ImageStore, *, size: int = _PIECE) -> Iterator[bytes]:
    """Yields all pixels of a store in pieces of `size` bytes, from the mapped pixels: its folder may be gone."""
    for piece in store.pixels.split(size):
        yield piece.cpu().numpy().tobytes()


def store_of_pieces(index: StoreIndex, pieces: Iterable[bytes], *, cache_dir: Path) -> ImageStore:
    """Rebuilds a store from the pieces of `pieces_of`, unless the cache has it; raises `StoreError` for damage."""

    def write(folder: Path) -> StoreIndex:
        with (folder / PIXELS).open("wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        write_index(folder, index)
        open_store(folder).verify()
        return index

    return opened_or_written(cache_dir, _sent_key(index), write)


def folder_of_sent(index: StoreIndex, cache_dir: Path) -> Path:
    """Returns the folder in which `store_of_pieces` puts a store."""
    return store_folder(cache_dir, _sent_key(index))


def same_store(folder: Path, index: StoreIndex) -> ImageStore | None:
    """Opens the store in a folder if it holds the same images; returns None otherwise."""
    try:
        store = open_store(folder)
    except StoreError:
        return None
    return store if content_key(store.index) == content_key(index) else None


def _sent_key(index: StoreIndex) -> str:
    return f"sent-{content_key(index)}"


def content_key(index: StoreIndex) -> str:
    """Returns a hash of what a store holds, including its pixels, independent of its folder and sources."""
    content = hashlib.blake2b(digest_size=16)
    for array in (index.sizes, index.kept, index.digests, index.checksums):  # never reorder: the key would change
        content.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return content.hexdigest()
