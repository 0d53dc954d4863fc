"""Decodes uploads to pixels in threads, a few at a time, so that no image holds up another."""

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
"""Most bytes of decoded images that wait for the network; beyond that, no further image is decoded."""
_MOST_THREADS = 8

ResultT = TypeVar("ResultT")


class TooLargeForNetworkError(InputError):
    """A decoded image that is larger than the network may process."""


@final
class Decoding:
    """A thread pool for work outside the network, with a bound on the pixels that wait.

    Args:
        model: The model whose recipe resizes the images.
        max_pixels: Images with more pixels are refused.
        max_network_pixels: Images with more pixels after resizing are refused.
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
        """Runs a function in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    @asynccontextmanager
    async def pixels(self, data: bytes) -> AsyncIterator[Pixels]:
        """Decodes an image for the network; its pixels are counted until the context ends.

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
        """Ends the threads when all work is done."""
        self._threads.shutdown()

    def _decoded(self, data: bytes) -> Pixels:
        picture = decode_picture(data, max_pixels=self.max_pixels, bits=self.model.description.bits)
        resize = self.model.description.resize
        if resize is not None:
            height, width = resize.size_of(picture.height, picture.width)
            if height * width > self.max_network_pixels:  # resizing can turn a line of pixels into gigabytes
                raise TooLargeForNetworkError(
                    f"the network would process {height} x {width} pixels, and this server allows at most "
                    f"{self.max_network_pixels} (onepeak serve --max-network-megapixels)"
                )
        return self.model.pixels(picture)

    def _count(self, num_bytes: int) -> None:
        self._num_bytes += num_bytes
        if self._num_bytes < _MOST_BYTES:
            self._has_room.set()
        else:
            self._has_room.clear()
