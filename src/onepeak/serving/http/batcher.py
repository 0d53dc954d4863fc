"""Work in threads: images are decoded in several; items of all requests are computed in one, in batches."""

import asyncio
import heapq
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias, TypeVar, final

from onepeak._core.values import check_integer
from onepeak.data.images.decode import TooManyPixelsError, decode_image
from onepeak.errors import InputError
from onepeak.posterior.predictions import Unlike
from onepeak.serving.images import Pixels
from onepeak.serving.model import Model

Compute: TypeAlias = Callable[[Sequence[Any]], Sequence[Any]]
"""Maps items of one kind to one result each."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Waiting:
    item: object
    size: int
    result: "asyncio.Future[Any]"


@final
class Batcher:
    """Computes waiting items in a single thread, in batches of one kind.

    Nothing waits for a timer: an item that arrives alone is computed at once, and items that arrive meanwhile form the
    next batch. Batches thus grow with the load. Kinds take turns; an item larger than `max_size` is computed alone.
    """

    def __init__(self, *, max_size: int) -> None:
        self.max_size = check_integer("max_size", max_size, minimum=1)
        self._waiting: dict[tuple[Compute, Hashable], deque[_Waiting]] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="onepeak-model")
        self._work: asyncio.Task[None] | None = None

    async def submit(self, compute: Compute, item: object, *, kind: Hashable = None, size: int = 1) -> Any:
        """Returns the result of one item, in a batch of the same `kind` and `compute`, or raises its error."""
        result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault((compute, kind), deque())
        waiting.append(_Waiting(item=item, size=size, result=result))
        if self._work is None:
            self._work = asyncio.create_task(self._run())
        return await result

    def close(self) -> None:
        """Ends the thread when all work is done."""
        self._thread.shutdown()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            compute, batch = self._next()
            if not batch:
                continue
            try:
                results = await loop.run_in_executor(self._thread, compute, [each.item for each in batch])
                answered = list(zip(batch, results, strict=True))
            except Exception as error:
                for each in batch:
                    if not each.result.done():
                        each.result.set_exception(error)
            else:
                for each, result in answered:
                    if not each.result.done():  # the client may have disconnected
                        each.result.set_result(result)
        self._work = None

    def _next(self) -> tuple[Compute, list[_Waiting]]:
        """The next batch, of the kind that has waited longest for its turn; empty if all clients have disconnected."""
        key = next(iter(self._waiting))
        waiting = self._waiting.pop(key)
        batch: list[_Waiting] = []
        size = 0
        while waiting and (not size or size + waiting[0].size <= self.max_size):
            each = waiting.popleft()
            if not each.result.done():
                batch.append(each)
                size += each.size
        if waiting:
            self._waiting[key] = waiting  # to the end of the queue
        return key[0], batch


@final
class Turns:
    """Lets work in while it fits; of what waits, the smallest goes first, each counted with what its owner has had."""

    def __init__(self, size: int) -> None:
        self._free = size
        self._waiting: list[tuple[int, int, int, asyncio.Future[None]]] = []
        self._count = count()

    @asynccontextmanager
    async def turn(self, size: int, had: int) -> AsyncIterator[None]:
        """Waits for a turn, and has it until the context ends."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (had + size, next(self._count), size, place))
        try:
            self._admit()
            await place
            yield
        finally:
            if place.done() and not place.cancelled():  # it had come in
                self._free += size
            self._admit()

    def _admit(self) -> None:
        while self._waiting and (self._waiting[0][-1].done() or self._waiting[0][2] <= self._free):
            _, _, size, place = heapq.heappop(self._waiting)
            if not place.done():  # otherwise it has left
                place.set_result(None)
                self._free -= size


_MOST_BYTES = 256 * 2**20
"""Most bytes of decoded images that wait for the network; beyond that, no further image is decoded."""
_MOST_THREADS = 8
_LARGE = 4_000_000
"""Pixels from which an image is large: one thread is always left to smaller ones."""
_AT_ONCE = 64_000_000
"""Pixels of large images that are decoded at once; one takes up to 20 bytes."""

ResultT = TypeVar("ResultT")


class TooLargeError(InputError):
    """An image with more pixels than the server accepts."""


@final
class Decoding:
    """A thread pool for work outside the network, with a bound on the pixels that wait."""

    def __init__(self, model: Model, *, max_pixels: int, max_network_pixels: int) -> None:
        self.model = model
        self.max_pixels = max_pixels
        self.max_network_pixels = max_network_pixels
        threads = min(_MOST_THREADS, max(2, os.cpu_count() or 2))
        self._threads = ThreadPoolExecutor(threads + 1, thread_name_prefix="onepeak-decode")  # one for other work
        self._turns, self._large, self._least = Turns(threads), Turns(_AT_ONCE), _AT_ONCE // (threads - 1)
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._num_bytes = 0

    async def run(self, work: Callable[[], ResultT]) -> ResultT:
        """Runs a function in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    @asynccontextmanager
    async def image(self, data: bytes, *, size: int = 0, had: int = 0) -> AsyncIterator[tuple[Pixels, Unlike]]:
        """Decodes an image for the network, and compares it with the training; counted until the context ends.

        Of waiting images goes first where its `size` in pixels and those its request has `had` decoded are least.
        """
        async with AsyncExitStack() as stack:
            if size >= _LARGE:
                await stack.enter_async_context(self._large.turn(min(max(size, self._least), _AT_ONCE), had))
            await stack.enter_async_context(self._turns.turn(1, had))
            await self._has_room.wait()
            pixels, unlike = await self.run(lambda: self._decoded(data))
            self._count(pixels.nbytes)
        try:
            yield pixels, unlike
        finally:
            self._count(-pixels.nbytes)

    def close(self) -> None:
        """Ends the threads when all work is done."""
        self._threads.shutdown()

    def _decoded(self, data: bytes) -> tuple[Pixels, Unlike]:
        try:
            image = decode_image(data, max_pixels=self.max_pixels, bits=self.model.description.bits)
            resize = self.model.description.resize
            if resize is not None:
                height, width = resize.size_of(image.height, image.width)
                if height * width > self.max_network_pixels:  # resizing can turn a line of pixels into gigabytes
                    raise TooLargeError(
                        f"the network would process {height} x {width} pixels, and this server allows at most "
                        f"{self.max_network_pixels} (onepeak serve --max-network-megapixels)"
                    )
            pixels = self.model.pixels(image)
            return pixels, self.model.unlike(pixels)
        except TooManyPixelsError:
            raise TooLargeError(f"more pixels than the server accepts ({self.max_pixels})") from None
        except MemoryError:
            raise TooLargeError("the server has not enough memory for this image") from None

    def _count(self, num_bytes: int) -> None:
        self._num_bytes += num_bytes
        if self._num_bytes < _MOST_BYTES:
            self._has_room.set()
        else:
            self._has_room.clear()
