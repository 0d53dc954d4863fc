"""An open image store: images of any size in one flat buffer, mapped from disk or resident on a device."""

import mmap
import operator
import os
import sys
import threading
import zlib
from functools import cached_property
from pathlib import Path
from typing import SupportsIndex
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from onepeak._core.wording import counted
from onepeak.data.images.store.failures import BadImage, StoreError
from onepeak.data.images.store.index import PIXELS, StoreIndex, read_index

# Copy-on-write pages without reserved swap, so that a store may be larger than the memory. Python defines the name from
# 3.13 on; the fallback is the value of Linux.
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)

_SHARE = 0.5
"""The largest share of a device's free memory that pixels may take; the rest is for the network and its batches."""

_MOVING = threading.Lock()
"""Ensures that threads which move a store to the same device share one copy."""


class ImageStore:
    """Decoded images, ready to be cropped and batched; made by `build_store` and `open_store`.

    `store[i]` is a view of shape (3, height, width), channels last in memory. Position i holds item `kept[i]` of the
    items that the store was built from, which is i itself unless bad files were left out. Writing into a view is safe:
    the change stays in this process and never reaches the disk.

    A store can be pickled: another process then maps the same file.
    """

    def __init__(self, folder: Path, index: StoreIndex, pixels: Tensor) -> None:
        self.folder = folder
        self.index = index
        self.pixels = pixels
        """All images as one flat uint8 tensor, row by row, with the three colours of a pixel together."""
        self._copies: WeakValueDictionary[torch.device, ImageStore] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self.index.kept)

    def __getitem__(self, position: SupportsIndex) -> Tensor:
        position = operator.index(position)
        if not -len(self) <= position < len(self):
            raise IndexError(f"`position` must be from 0 to {len(self) - 1}, got {position}.")
        height, width = self.sizes[position].tolist()
        start = int(self.offsets[position])
        return self.pixels[start : start + height * width * 3].view(height, width, 3).permute(2, 0, 1)

    def __repr__(self) -> str:
        return f"ImageStore({len(self)} images, {self.num_bytes / 2**20:.1f} MiB, {self.device}, {str(self.folder)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _reopened, (self.folder, self.device)

    @property
    def device(self) -> torch.device:
        """The device of the pixels."""
        return self.pixels.device

    @property
    def num_bytes(self) -> int:
        """Size of all images in bytes."""
        return self.pixels.numel()

    @property
    def num_items(self) -> int:
        """The number of items that the store was built from, including those left out."""
        return self.index.num_items

    @property
    def kept(self) -> npt.NDArray[np.int64]:
        """The item at each position: `manifest.take(store.kept)` has the same order and length as the store."""
        return self.index.kept

    @property
    def bad(self) -> tuple[BadImage, ...]:
        """The items left out, with the reason."""
        return self.index.bad

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Height and width of each image, positions x 2."""
        return self.index.sizes

    @cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        """The position of the first byte of each image in `pixels`."""
        ends = self.index.lengths.cumsum()
        return np.concatenate([np.zeros(1, np.int64), ends[:-1]])

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """A hash of the bytes of each file: equal hashes mean exact copies."""
        return tuple(digest.tobytes().hex() for digest in self.index.digests)

    def fits(self, device: torch.device | str) -> bool:
        """Whether all pixels fit into half of the device's free memory; always true for the CPU, which maps them."""
        device = _numbered(device)
        if device == self.device or device.type == "cpu" or device in self._copies:
            return True
        return self.num_bytes <= _SHARE * _free_memory(device)

    def to(self, device: torch.device | str) -> "ImageStore":
        """Returns the store with its pixels resident on a device; check with `fits` first.

        All callers share one copy as long as it is in use.
        """
        device = _numbered(device)
        if device == self.device:
            return self
        if device.type == "cpu":
            return open_store(self.folder)
        with _MOVING:
            copy = self._copies.get(device)
            if copy is None:
                copy = self._copies[device] = self._copied(device)
        return copy

    def _copied(self, device: torch.device) -> "ImageStore":
        if not self.fits(device):
            raise StoreError(
                f"The store has {self.num_bytes / 2**30:.2f} GiB, more than half of the "
                f"{_free_memory(device) / 2**30:.2f} GiB free on {device}: leave it on the CPU, and give `device` to "
                "the batches."
            )
        pixels = self.pixels.to(device)
        if device.type == "cuda":
            torch.cuda.current_stream(device).synchronize()  # other streams read the copy too
        return ImageStore(self.folder, self.index, pixels)

    def verify(self) -> None:
        """Reads every image and compares it with its checksum, to detect damage from outside."""
        pixels = self.pixels.cpu().numpy()
        wrong = [
            position
            for position, (start, length) in enumerate(zip(self.offsets, self.index.lengths, strict=True))
            if zlib.crc32(pixels[start : start + length].data) != self.index.checksums[position]
        ]
        if wrong:
            raise StoreError(
                f"{self.folder} is damaged: {counted(len(wrong), 'image')} not as written (the first at position "
                f"{wrong[0]}); delete it and build it again."
            )


def open_store(folder: Path) -> ImageStore:
    """Opens a finished store: reads its table of contents and maps its pixels, without reading them."""
    return ImageStore(folder, read_index(folder), _mapped(folder / PIXELS))


def _reopened(folder: Path, device: torch.device) -> ImageStore:
    return open_store(folder).to(device)


def _numbered(device: torch.device | str) -> torch.device:
    """Returns the device with its index: "cuda" becomes "cuda:0" or another."""
    return torch.empty(0, device=device).device


def _mapped(path: Path) -> Tensor:
    with path.open("rb") as file:
        length = os.fstat(file.fileno()).st_size
        if sys.platform == "win32":
            memory = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_COPY)
        else:
            flags = mmap.MAP_PRIVATE | _NO_RESERVE
            memory = mmap.mmap(file.fileno(), length, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    return torch.frombuffer(memory, dtype=torch.uint8)


def _free_memory(device: torch.device) -> int:
    match device.type:
        case "cuda":
            free, _ = torch.cuda.mem_get_info(device)
            # Memory that the allocator has reserved but does not use is free for the store as well.
            return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        case "mps":
            return torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
        case other:
            raise StoreError(f"The free memory of {other!r} cannot be queried; leave the store on the CPU.")
