"""The table of contents of a store: two small files beside the pixels."""

import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from onepeak.data.store.failures import BadPicture, StoreError
from onepeak.data.store.key import FORMAT

PIXELS = "pixels.bin"
_ARRAYS = "index.npz"
_HEADER = "store.json"


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
    num_items: int
    bad: tuple[BadPicture, ...] = ()

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Size of each image in bytes."""
        return self.sizes[:, 0] * self.sizes[:, 1] * 3


def write_index(folder: Path, index: StoreIndex) -> None:
    """Writes the table of contents and waits until it is on disk."""
    with (folder / _ARRAYS).open("wb") as file:
        np.savez(file, sizes=index.sizes, kept=index.kept, digests=index.digests, checksums=index.checksums)
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
            index = StoreIndex(
                sizes=arrays["sizes"],
                kept=arrays["kept"],
                digests=arrays["digests"],
                checksums=arrays["checksums"],
                num_items=header["num_items"],
                bad=tuple(BadPicture(*fields) for fields in header["bad"]),
            )
        found = (folder / PIXELS).stat().st_size
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise StoreError(f"{folder} is not a complete image store ({error}); delete it and build it again.") from None
    if not found == index.lengths.sum() == header["num_bytes"]:
        raise StoreError(
            f"{folder} is damaged: {found} bytes of pixels where {header['num_bytes']} were written; "
            "delete it and build it again."
        )
    return index
