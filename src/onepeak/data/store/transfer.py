"""A store for a machine that does not see its folder: taken apart into pieces, and put together there."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from onepeak.data.store.build import found_or_written
from onepeak.data.store.failures import StoreError
from onepeak.data.store.images import ImageStore, open_store
from onepeak.data.store.index import PIXELS, StoreIndex, write_index
from onepeak.data.store.place import store_folder

_PIECE = 64 * 2**20
"""Bytes; small enough for any machine that trains, large enough that there are not many."""


def pieces_of(store: ImageStore, *, size: int = _PIECE) -> Iterator[bytes]:
    """All pixels of a store, that many bytes at a time.

    Args:
        store: The store; its folder may be gone, what is mapped is enough.
        size: Bytes of a piece.
    """
    for piece in store.pixels.split(size):
        yield piece.cpu().numpy().tobytes()


def store_of_pieces(index: StoreIndex, pieces: Iterable[bytes], *, cache_dir: Path) -> ImageStore:
    """The store that was taken apart; pieces are asked for only where it is not in the cache already.

    Several processes of a machine may call this at once: one writes, the others wait and open the same store.

    Args:
        index: The table of contents.
        pieces: What `pieces_of` gave.
        cache_dir: Folder for stores.

    Raises:
        StoreError: Some image did not arrive as it was sent.
    """

    def write(folder: Path) -> StoreIndex:
        with (folder / PIXELS).open("wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        write_index(folder, index)
        open_store(folder).verify()
        return index

    return found_or_written(cache_dir, _sent_key(index), write)


def folder_of_sent(index: StoreIndex, cache_dir: Path) -> Path:
    """Where `store_of_pieces` puts a store."""
    return store_folder(cache_dir, _sent_key(index))


def same_store(folder: Path, index: StoreIndex) -> ImageStore | None:
    """The store in a folder, if it is there and holds the same images."""
    try:
        store = open_store(folder)
    except StoreError:
        return None
    return store if content_key(store.index) == content_key(index) else None


def _sent_key(index: StoreIndex) -> str:
    return f"sent-{content_key(index)}"


def content_key(index: StoreIndex) -> str:
    """A hash of what a store holds, its pixels included, wherever it lies and whatever it was built from."""
    content = hashlib.blake2b(digest_size=16)
    for array in (index.sizes, index.kept, index.digests, index.checksums):
        content.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return content.hexdigest()
