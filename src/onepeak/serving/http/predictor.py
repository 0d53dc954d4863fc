"""From uploads or rows to predictions, in batches that all requests share."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import Any, TypeAlias, final

import numpy as np
import torch

from onepeak._core.imports import require
from onepeak.data.images.decode import depth_notes
from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError, NotFiniteError
from onepeak.posterior.predictions import Row, Unlike, called
from onepeak.serving.http.batcher import Batcher, Compute, Decoding, TooLargeError
from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.limits import Limits
from onepeak.serving.http.requests import Upload
from onepeak.serving.images import Pixels
from onepeak.serving.model import Answers, Model
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.predict import IMAGES_A_BATCH, ROWS_A_BATCH, batch_of, notes_of
from onepeak.serving.table_rows import TableRows, rows_of_frame

_USUAL_PIXELS = 512 * 512
"""Images larger than this count as more than one item of a batch."""
_DARK = 24
"""The highest value, of 255, at which an image may hold 12 bits in a 16-bit file: 4095 of 65,535 is 16 of 255."""

Answer: TypeAlias = Row | InputError
"""The prediction for one item, or why there is none."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RequestOutcome:
    """The results of one request."""

    answers: list[Answer]
    """One per item, in order."""
    notes: tuple[str, ...]
    evidence: dict[int, list[list[float]]]
    """Evidence maps by position, if requested."""


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
        table = self.model.description.table
        with contextlib.suppress(InputError, RuntimeError):  # the network may need another size
            if table is None:
                pixels = self.model.pixels(np.zeros((64, 64, 3), np.uint8))
                await self.batcher.submit(self._images, (pixels, self.usual, None))
            else:
                empty = np.full((1, len(table.columns)), np.nan)
                rows = FeatureRows(columns=table.columns, values=empty, categories=table.categories)
                await self.batcher.submit(self._rows, (rows, self.usual, [None]))
        self.is_warm = True

    def close(self) -> None:
        """Ends all threads."""
        self.decoding.close()
        self.batcher.close()

    async def images(
        self, uploads: Sequence[Upload], options: PosteriorOptions, *, evidence: bool = False
    ) -> RequestOutcome:
        """Predicts for images; a bad one gets its error, and the others are answered.

        Raises:
            RequestError: There is no prediction for any of them.
        """
        # A request is in at most two batches at a time, so that one with many images leaves room for others.
        share = asyncio.Semaphore(2 * IMAGES_A_BATCH)
        before = list(accumulate((upload.pixels for upload in uploads), initial=0))
        maps: dict[int, list[list[float]]] = {}
        dark: dict[int, bytes] = {}

        async def answer(item: int, upload: Upload) -> Answer:
            try:
                image = self.decoding.image(upload.data, size=upload.pixels, had=before[item])
                async with share, image as (pixels, unlike):
                    if pixels.max() <= _DARK:
                        dark[item] = upload.data
                    found: Answer = await self._of_size(self._images, pixels, options, unlike)
                    if isinstance(found, InputError):
                        return found
                    if evidence:
                        maps[item] = await self._of_size(self._evidence, pixels, None, found.predicted_index)
                    return replace(found, source=upload.name or item)
            except InputError as error:
                return error

        answers = await asyncio.gather(*(answer(item, upload) for item, upload in enumerate(uploads)))
        failed = [each for each in answers if isinstance(each, InputError)]
        if len(failed) == len(answers):
            raise _none(failed)
        depth: tuple[str, ...] = ()
        if dark and self.model.description.bits is None:
            places = sorted(dark)
            names = [called(uploads[item].name or item, "item") for item in places] if len(dark) < len(uploads) else []
            files = [dark[item] for item in places]
            depth = await self.decoding.run(lambda: depth_notes(files, None, asked=True, names=names))
        marks = [(each.source, each.unlike) if isinstance(each, Row) else ("", None) for each in answers]
        notes = (*depth, *notes_of(self.model, (), options, marks, source_name="item"))
        return RequestOutcome(answers=answers, notes=notes, evidence=maps)

    async def rows(self, rows: Sequence[dict[str, Any]], options: PosteriorOptions) -> RequestOutcome:
        """Predicts for rows of a table, for all or for none."""
        table = await self.decoding.run(lambda: self._table(rows))
        if reasons := table.unanswered:
            first = min(reasons)
            raise RequestError(422, f"`rows[{first}]`: {reasons[first]}.")
        parts = np.array_split(np.arange(len(rows)), -(-len(rows) // ROWS_A_BATCH))
        requests = ((table.rows.take(part), options, [table.unlike[place] for place in part]) for part in parts)
        results = (self.batcher.submit(self._rows, each, kind=options, size=len(each[0])) for each in requests)
        answers: list[Answer] = [answer for part in await asyncio.gather(*results) for answer in part]
        marks = []
        for place, each in enumerate(answers):
            if isinstance(each, InputError):
                raise RequestError(422, f"`rows[{place}]`: {each}.")
            marks.append((table.sources[place], each.unlike))
        notes = notes_of(self.model, table, options, marks, source_name="row")
        return RequestOutcome(answers=answers, notes=notes, evidence={})

    async def _of_size(self, compute: Compute, pixels: Pixels, options: PosteriorOptions | None, about: object) -> Any:
        """Computes a result for an image, in a batch with others of its size that are read by the same options."""
        height, width = pixels.shape[:2]
        size = min(-(-height * width // _USUAL_PIXELS), IMAGES_A_BATCH)
        try:
            return await self.batcher.submit(
                compute, (pixels, options, about), kind=(options, height, width), size=size
            )
        except RuntimeError as error:  # torch: a size the network cannot take, or out of memory
            logging.getLogger(__name__).warning("%d x %d pixels: %s", height, width, error)
            raise InputError(f"the network cannot take {height} x {width} pixels") from error

    def _images(self, images: Sequence[tuple[Pixels, PosteriorOptions, Unlike]]) -> list[Answer]:
        pixels, (options, *_), unlike = zip(*images, strict=True)
        return self._read(self.model.answers(pixels), options, unlike)

    def _rows(self, requests: Sequence[tuple[FeatureRows, PosteriorOptions, Sequence[Unlike]]]) -> list[list[Answer]]:
        tables, (options, *_), unlike = zip(*requests, strict=True)
        values = np.concatenate([rows.values for rows in tables])
        joined = FeatureRows(columns=tables[0].columns, values=values, categories=tables[0].categories)
        answers = iter(self._read(self.model.row_answers(joined), options, [mark for each in unlike for mark in each]))
        return [list(islice(answers, len(rows))) for rows in tables]

    def _read(self, answers: Answers, options: PosteriorOptions, unlike: Sequence[Unlike]) -> list[Answer]:
        items = list(range(len(unlike)))
        raw, failed = batch_of(answers, items=items, sources=items, unlike=unlike)
        found: dict[int, Answer] = {each.item: each.error for each in failed}
        if raw is not None:
            found |= zip(raw.items.tolist(), self.model.read(raw, options).rows(), strict=True)
        return [found[item] for item in items]

    def _evidence(self, images: Sequence[tuple[Pixels, None, int]]) -> list[list[list[float]]]:
        pixels, _, labels = zip(*images, strict=True)
        maps = self.model.evidence(pixels, torch.tensor(labels))
        rounded: list[list[list[float]]] = maps.double().mul(1e4).round().div(1e4).tolist()
        return rounded

    def _table(self, rows: Sequence[dict[str, Any]]) -> TableRows:
        pandas = require("pandas", extra="data", purpose="A table")
        assert self.model.description.table is not None
        # As objects: otherwise a name that is a number would change when it is next to a missing value.
        return rows_of_frame(pandas.DataFrame(rows, dtype=object), self.model.description.table)


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
