"""The key that identifies a store: a hash of its sources and the recipe."""

import hashlib
import json
import os
from typing import NamedTuple

import numpy as np

from onepeak.data.decode import MAX_PIXELS
from onepeak.data.manifest import ImageArrays, ImageFiles
from onepeak.data.resize import Resize

FORMAT = 2
"""Version of the file format and of the decoding; raised when either changes."""


class FileState(NamedTuple):
    """What distinguishes two versions of a file without reading it."""

    num_bytes: int
    changed_ns: int


_ABSENT = FileState(-1, -1)
_LOCKED = FileState(-2, -2)  # so that a file counts as changed once it becomes readable


def file_states(items: ImageFiles) -> list[FileState]:
    """Returns size and modification time of every file."""
    return [_file_state(os.path.join(items.root, path)) for path in items.paths]  # noqa: PTH118 (a Path each is slow)


def _file_state(path: str) -> FileState:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return _ABSENT
    return FileState(status.st_size, status.st_mtime_ns) if os.access(path, os.R_OK) else _LOCKED


def files_key(items: ImageFiles, states: list[FileState], resize: Resize, bits: int | None = None) -> str:
    """Returns the key of a store of files: their root, names, sizes and times, in order, and the recipe."""
    content = hashlib.blake2b(digest_size=16)
    content.update(_recipe(resize, MAX_PIXELS, *(() if bits is None else (bits,))))
    content.update(os.fsencode(items.root.resolve()))
    for path, state in zip(items.paths, states, strict=True):
        content.update(b"\0" + os.fsencode(path) + f"\0{state.num_bytes},{state.changed_ns}".encode())
    return content.hexdigest()


def arrays_key(items: ImageArrays, resize: Resize) -> str:
    """Returns the key of a store of images in memory: their values and the recipe."""
    content = hashlib.blake2b(digest_size=16)
    content.update(_recipe(resize, 0))
    content.update(json.dumps(["arrays", *items.pixels.shape]).encode())
    for picture in items.pixels:
        content.update(np.ascontiguousarray(picture).data)
    return content.hexdigest()


def _recipe(resize: Resize, *others: int) -> bytes:
    return json.dumps(
        [FORMAT, resize.short_side, resize.only_enlarge, float(resize.scale), *others], allow_nan=False
    ).encode()
