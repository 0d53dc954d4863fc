"""From uploads or rows to predictions, in batches that all requests share."""

import asyncio
import contextlib
import logging
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, final

import numpy as np

from onepeak._core.imports import require
from onepeak.data.images.decode import depth_notes
from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError, NotFiniteError
from onepeak.posterior.predictions import Predictions, Unlike, called
from onepeak.serving.http.batcher import Batcher, Compute, Decoding, TooLargeError
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


@dataclass(frozen=True, kw_only=True, eq=False)
class RequestOutcome:
    """The results of one request."""

    raw: Predictions
    """What the network says of the samples that have a prediction, before calibration; `items` are their positions."""
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
        return RequestOutcome(raw=raw, failed=failed, notes=notes, evidence=maps)

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
        return RequestOutcome(raw=raw, failed=[], notes=notes, evidence={})

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
