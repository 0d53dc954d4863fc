"""From uploads or rows to predictions, decoded in several threads and computed in one, in batches of all requests."""

import asyncio
import contextlib
import heapq
import logging
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import accumulate, count, islice
from typing import Any, TypeAlias, TypeVar, final

import numpy as np

from onepeak._core.imports import require
from onepeak._core.values import check_integer
from onepeak.data.images.decode import TooManyPixelsError, decode_image, depth_notes
from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError, NotFiniteError
from onepeak.posterior.predictions import Predictions, Row, Unlike, called
from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.limits import Limits
from onepeak.serving.http.requests import Upload
from onepeak.serving.images import Pixels
from onepeak.serving.model import Model
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.predict import IMAGES_A_BATCH, ROWS_A_BATCH, Batch, Failed, batch_of, in_order, notes_of
from onepeak.serving.table_rows import TableRows, rows_of_frame

_USUAL_PIXELS = 512 * 512
"""Images larger than this count as more than one item of a batch."""
_DARK = 24
"""The highest value, of 255, at which an image may hold 12 bits in a 16-bit file: 4095 of 65,535 is 16 of 255."""

Compute: TypeAlias = Callable[[Sequence[Any]], Sequence[Any]]
"""Maps items of one kind to one result each."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RequestOutcome:
    """The results of one request."""

    raw: Predictions
    """What the network says of the samples that have a prediction, before calibration; `items` are their positions."""
    rows: list[Row]
    """Their predictions, as the request's options read them."""
    failed: list[Failed]
    """The other samples."""
    notes: tuple[str, ...]
    evidence: dict[int, list[list[float]]]
    """Evidence maps by position, if requested."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Part:
    """Samples of one request that are computed in one batch, together with those of others."""

    inputs: Any
    """An image, or rows of a table."""
    items: list[int]
    sources: list[str | int]
    unlike: list[Unlike]


@final
class Predictor:
    """A model that serves many requests at once, all in one event loop."""

    def __init__(self, model: Model, limits: Limits, usual: PosteriorOptions) -> None:
        usual.check(model.description.calibration)
        self.model = model
        self.usual = usual
        self.decoding = Decoding(model, max_pixels=limits.max_pixels, max_network_pixels=limits.max_network_pixels)
        self.is_warm = False
        self.batcher = Batcher(max_size=ROWS_A_BATCH if model.reads_tables else IMAGES_A_BATCH)

    def check(self, options: PosteriorOptions, *, evidence: bool) -> None:
        """Refuses early what this model cannot do."""
        options.check(self.model.description.calibration)
        if evidence and not self.model.network.has_maps:
            raise InputError("`evidence` needs an image model with maps, got one without: leave it out.")

    async def warm(self) -> None:
        """Runs the model once, as the first prediction takes seconds and no client should wait for that."""
        table, compute = self.model.description.table, self._images
        with contextlib.suppress(InputError, RuntimeError):  # the network may need another size
            if table is None:
                inputs: object = self.model.pixels(np.zeros((64, 64, 3), np.uint8))
            else:
                empty = np.full((1, len(table.columns)), np.nan)
                inputs = FeatureRows(columns=table.columns, values=empty, categories=table.categories)
                compute = self._rows
            await self.batcher.submit(compute, _Part(inputs=inputs, items=[0], sources=[0], unlike=[None]))
        self.is_warm = True

    def close(self) -> None:
        """Ends all threads."""
        self.decoding.close()
        self.batcher.close()

    async def images(
        self, uploads: Sequence[Upload], options: PosteriorOptions, *, evidence: bool = False
    ) -> RequestOutcome:
        """Predicts for images; a bad one gets its error, and the others are answered, unless all are bad."""
        # A request is in at most two batches at a time, so that one with many images leaves room for others.
        share = asyncio.Semaphore(2 * IMAGES_A_BATCH)
        before = list(accumulate((upload.pixels for upload in uploads), initial=0))
        maps: dict[int, list[list[float]]] = {}
        dark: dict[int, bytes] = {}

        async def answer(item: int, upload: Upload) -> Batch:
            source = upload.name or item
            try:
                image = self.decoding.image(upload.data, size=upload.pixels, had=before[item])
                async with share, image as (pixels, unlike):
                    if pixels.max() <= _DARK:
                        dark[item] = upload.data
                    part = _Part(inputs=pixels, items=[item], sources=[source], unlike=[unlike])
                    raw, failed = await self._of_size(self._images, pixels, part)
                    if evidence and raw is not None:
                        asked = (pixels, raw, options)
                        maps[item] = await self._of_size(self._evidence, pixels, asked, kind=options)
                    return raw, failed
            except InputError as error:
                return None, [Failed(item=item, source=source, error=error)]

        answers = await asyncio.gather(*(answer(item, upload) for item, upload in enumerate(uploads)))
        raw, failed = in_order(answers, len(self.model.classes))
        if not len(raw):
            raise _none([each.error for each in failed])
        depth: tuple[str, ...] = ()
        if dark and self.model.description.bits is None:
            places = sorted(dark)
            names = [called(uploads[item].name or item, "item") for item in places] if len(dark) < len(uploads) else []
            files = [dark[item] for item in places]
            depth = await self.decoding.run(lambda: depth_notes(files, None, asked=True, names=names))
        notes = (*depth, *notes_of(self.model, (), options, raw.with_unlike, source_name="item"))
        return RequestOutcome(
            raw=raw, rows=await self._read_with_others(raw, options), failed=failed, notes=notes, evidence=maps
        )

    async def rows(self, rows: Sequence[dict[str, Any]], options: PosteriorOptions) -> RequestOutcome:
        """Predicts for rows of a table, for all or for none."""
        table = await self.decoding.run(lambda: self._table(rows))
        if reasons := table.unanswered:
            first = min(reasons)
            raise RequestError(422, f"`rows[{first}]`: {reasons[first]}.")
        parts = [
            _Part(
                inputs=table.rows.take(places),
                items=places.tolist(),
                sources=[table.sources[place] for place in places],
                unlike=[table.unlike[place] for place in places],
            )
            for places in np.array_split(np.arange(len(rows)), -(-len(rows) // ROWS_A_BATCH))
        ]
        results = (self.batcher.submit(self._rows, part, size=len(part.items)) for part in parts)
        raw, failed = in_order(await asyncio.gather(*results), len(self.model.classes))
        if failed:
            raise RequestError(422, f"`rows[{failed[0].item}]`: {failed[0].error}.")
        notes = notes_of(self.model, table, options, raw.with_unlike, source_name="row")
        return RequestOutcome(
            raw=raw, rows=await self._read_with_others(raw, options), failed=[], notes=notes, evidence={}
        )

    async def _read_with_others(self, raw: Predictions, options: PosteriorOptions) -> list[Row]:
        """Reads a request's predictions together with those of others that have its options."""
        found: list[Row] = await self.batcher.submit(self._read, (raw, options), kind=options, size=len(raw))
        return found

    async def _of_size(self, compute: Compute, pixels: Pixels, item: object, *, kind: Hashable = None) -> Any:
        """Computes a result for an image, in a batch with others of its size and kind."""
        height, width = pixels.shape[:2]
        size = min(-(-height * width // _USUAL_PIXELS), IMAGES_A_BATCH)
        try:
            return await self.batcher.submit(compute, item, kind=(kind, height, width), size=size)
        except RuntimeError as error:  # torch: a size the network cannot take, or out of memory
            logging.getLogger(__name__).warning("%d x %d pixels: %s", height, width, error)
            raise InputError(f"the network cannot take {height} x {width} pixels") from error

    def _images(self, parts: Sequence[_Part]) -> list[Batch]:
        return _by_part(self.model.answers([part.inputs for part in parts]), parts)

    def _rows(self, parts: Sequence[_Part]) -> list[Batch]:
        first, values = parts[0].inputs, np.concatenate([part.inputs.values for part in parts])
        joined = FeatureRows(columns=first.columns, values=values, categories=first.categories)
        return _by_part(self.model.row_answers(joined), parts)

    def _read(self, requests: Sequence[tuple[Predictions, PosteriorOptions]]) -> list[list[Row]]:
        raw, (options, *_) = zip(*requests, strict=True)
        rows = self.model.read(Predictions.joined(raw), options).rows()
        return [list(islice(rows, len(each))) for each in raw]

    def _evidence(self, images: Sequence[tuple[Pixels, Predictions, PosteriorOptions]]) -> list[list[list[float]]]:
        pixels, raw, (options, *_) = zip(*images, strict=True)
        labels = self.model.read(Predictions.joined(raw), options).predicted_index
        rounded: list[list[list[float]]] = (
            self.model.evidence(pixels, labels).double().mul(1e4).round().div(1e4).tolist()
        )
        return rounded

    def _table(self, rows: Sequence[dict[str, Any]]) -> TableRows:
        pandas = require("pandas", extra="data", purpose="A table")
        assert self.model.description.table is not None
        # As objects: otherwise a name that is a number would change when it is next to a missing value.
        return rows_of_frame(pandas.DataFrame(rows, dtype=object), self.model.description.table)


def _by_part(answers: Predictions, parts: Sequence[_Part]) -> list[Batch]:
    """Gives each part its own of the answers to all."""
    found, start = [], 0
    for part in parts:
        own = answers.take(range(start, start + len(part.items)))
        found.append(batch_of(own, items=part.items, sources=part.sources, unlike=part.unlike))
        start += len(part.items)
    return found


def code_of(error: InputError) -> str:
    """Returns the code for an image without a prediction."""
    match error:
        case TooLargeError():
            return "too_large"
        case NotFiniteError():
            return "no_posterior"
    return "unreadable_picture"


def _none(errors: Sequence[InputError]) -> RequestError:
    status = 413 if all(isinstance(error, TooLargeError) for error in errors) else 422
    which = "the image" if len(errors) == 1 else f"any of the {len(errors)} images; the first"
    return RequestError(status, f"Could not read {which}: {errors[0]}.")


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
