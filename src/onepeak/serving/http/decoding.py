"""Uploads become pixels in threads of their own, a few at a time, so that no image holds up another."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar, final

from onepeak.data.decode import decode_picture
from onepeak.errors import InputError
from onepeak.serving.model import Model
from onepeak.serving.pictures import Pixels

_MOST_BYTES = 256 * 2**20
"""Of decoded images that wait for the network; beyond, no further one is decoded."""
_MOST_THREADS = 8

ResultT = TypeVar("ResultT")


class TooLargeForNetworkError(InputError):
    """An image that could be decoded, and is more than the network shall see at once."""


@final
class Decoding:
    """Threads for what takes time outside of the network, and a bound on the pixels that wait.

    Args:
        model: Whose recipe resizes the images.
        max_pixels: An image with more is refused.
        max_network_pixels: An image with more after it is resized is refused too.
    """

    def __init__(self, model: Model, *, max_pixels: int, max_network_pixels: int) -> None:
        self.model = model
        self.max_pixels = max_pixels
        self.max_network_pixels = max_network_pixels
        threads = min(_MOST_THREADS, max(2, os.cpu_count() or 2))
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="onepeak-decode")
        self._turn = asyncio.Semaphore(threads)  # first come, first served
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._num_bytes = 0

    async def run(self, work: Callable[[], ResultT]) -> ResultT:
        """Does something in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    @asynccontextmanager
    async def pixels(self, data: bytes) -> AsyncIterator[Pixels]:
        """An image as the network was trained on it, counted until the end of the context.

        Args:
            data: The file.
        """
        async with self._turn:
            await self._has_room.wait()
            pixels = await self.run(lambda: self._decoded(data))
            self._count(pixels.nbytes)
        try:
            yield pixels
        finally:
            self._count(-pixels.nbytes)

    def close(self) -> None:
        """Ends the threads, once they have nothing left to do."""
        self._threads.shutdown()

    def _decoded(self, data: bytes) -> Pixels:
        picture = decode_picture(data, max_pixels=self.max_pixels, bits=self.model.description.bits)
        resize = self.model.description.resize
        if resize is not None:
            height, width = resize.size_of(picture.height, picture.width)
            if height * width > self.max_network_pixels:  # of a line of pixels, resizing can make gigabytes
                raise TooLargeForNetworkError(
                    f"the network would see {height} x {width} pixels of it, and {self.max_network_pixels} are the "
                    "most that this server allows (onepeak serve --max-network-megapixels)"
                )
        return self.model.pixels(picture)

    def _count(self, num_bytes: int) -> None:
        self._num_bytes += num_bytes
        if self._num_bytes < _MOST_BYTES:
            self._has_room.set()
        else:
            self._has_room.clear()
