"""Transfers a store in pieces to a machine that cannot access its folder."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from onepeak.data.images.store.build import opened_or_written
from onepeak.data.images.store.failures import StoreError
from onepeak.data.images.store.images import PIXELS, ImageStore, StoreIndex, open_store, write_index
from onepeak.data.images.store.key import store_folder

_PIECE = 64 * 2**20
"""Size of a piece in bytes: small enough for any training machine, large enough to keep the number of pieces low."""


def pieces_of(store: ImageStore, *, size: int = _PIECE) -> Iterator[bytes]:
    """Yields all pixels of a store in pieces of `size` bytes, from the mapped pixels: its folder may be gone."""
    for piece in store.pixels.split(size):
        yield piece.cpu().numpy().tobytes()


def store_of_pieces(index: StoreIndex, pieces: Iterable[bytes], *, cache_dir: Path) -> ImageStore:
    """Rebuilds a store from the pieces of `pieces_of`, unless the cache has it; raises `StoreError` for damage.

    Several processes may call this at once: one writes, the others wait and open the same store.
    """

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
