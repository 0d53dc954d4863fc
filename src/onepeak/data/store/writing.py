"""Writes the pixels of a store, in the order of the items, and returns its table of contents."""

import contextlib
import hashlib
import os
import shutil
import zlib
from pathlib import Path

import numpy as np

from onepeak.data.manifest import ImageArrays, ImageFiles
from onepeak.data.pillow import Image
from onepeak.data.resize import Resize
from onepeak.data.store.failures import BadPicture, StoreError
from onepeak.data.store.index import PIXELS, StoreIndex
from onepeak.data.store.key import FileState
from onepeak.data.store.pool import Task, run_tasks
from onepeak.data.store.progress import Progress, progress_of
from onepeak.data.store.worker import DIGEST_BYTES, Answer, Source

_PART = (
    32  # largest number of images per task: small tasks balance the workers; larger ones would not reduce the overhead
)


def write_files(
    folder: Path,
    items: ImageFiles,
    states: list[FileState],
    resize: Resize,
    bits: int | None,
    workers: int,
    progress: Progress,
) -> StoreIndex:
    """Decodes all files into one, part by part and in order, with any number of workers."""
    sources = [Source(str(items.root / path), *state) for path, state in zip(items.paths, states, strict=True)]
    size = max(1, min(_PART, len(sources) // (16 * workers)))
    starts = range(0, len(sources), size)
    tasks = (Task(folder / f"part-{start}", sources[start : start + size], resize, bits) for start in starts)
    answers: list[Answer] = []
    with (
        (folder / PIXELS).open("wb") as pixels,
        progress_of(progress, title="Decoding images", total=len(sources)) as advance,
        contextlib.closing(run_tasks(tasks, workers=min(workers, len(starts)), log=folder / "log")) as finished,
    ):
        for task, part_answers in finished:
            with task.part.open("rb") as part:
                shutil.copyfileobj(part, pixels, 1 << 20)
            task.part.unlink()
            answers.extend(part_answers)
            advance(len(answers))
        pixels.flush()
        os.fsync(pixels.fileno())
    (folder / "log").unlink(missing_ok=True)
    return _index(items.paths, answers)


def _index(paths: tuple[str, ...], answers: list[Answer]) -> StoreIndex:
    changed = [path for path, answer in zip(paths, answers, strict=True) if answer.outcome == "changed"]
    if changed:
        raise StoreError(
            f"{len(changed)} files changed while the store was built, {changed[0]} among them; build it again when "
            "nothing writes to them."
        )
    kept = [item for item, answer in enumerate(answers) if answer.outcome == "kept"]
    return StoreIndex(
        sizes=np.array([(answers[item].height, answers[item].width) for item in kept], np.int64).reshape(-1, 2),
        kept=np.array(kept, np.int64),
        digests=np.frombuffer(bytes.fromhex("".join(answers[item].digest for item in kept)), np.uint8).reshape(
            -1, DIGEST_BYTES
        ),
        checksums=np.array([answers[item].checksum for item in kept], np.uint32),
        num_items=len(paths),
        bad=tuple(
            BadPicture(item, paths[item], answer.reason)
            for item, answer in enumerate(answers)
            if answer.outcome == "bad"
        ),
    )


def write_arrays(folder: Path, items: ImageArrays, resize: Resize, progress: Progress) -> StoreIndex:
    """Resizes all images in memory and writes them to one file."""
    height, width = resize.size_of(*items.pixels.shape[1:3])
    digests = np.empty((len(items), DIGEST_BYTES), np.uint8)
    checksums = np.empty(len(items), np.uint32)
    with (
        (folder / PIXELS).open("wb") as pixels,
        progress_of(progress, title="Storing images", total=len(items)) as advance,
    ):
        for item, given in enumerate(items.pixels):
            picture = np.ascontiguousarray(given)
            stored = np.asarray(resize.apply(Image.fromarray(picture)))
            pixels.write(stored.data)
            digests[item] = np.frombuffer(hashlib.blake2b(picture.data, digest_size=DIGEST_BYTES).digest(), np.uint8)
            checksums[item] = zlib.crc32(stored.data)
            advance(item + 1)
        pixels.flush()
        os.fsync(pixels.fileno())
    return StoreIndex(
        sizes=np.full((len(items), 2), (height, width), np.int64),
        kept=np.arange(len(items)),
        digests=digests,
        checksums=checksums,
        num_items=len(items),
    )
