"""From uploads or rows to predictions, in batches that all requests share."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, TypeAlias, final

import numpy as np
import torch

from onepeak._core.imports import require
from onepeak.data.images.decode import TooManyPixelsError, depth_notes
from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError
from onepeak.posterior.predictions import Row, Unlike, called
from onepeak.posterior.referral import UNLIKE
from onepeak.serving.http.batcher import Batcher, Compute, Decoding, TooLargeForNetworkError
from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.limits import Limits
from onepeak.serving.http.requests import Upload
from onepeak.serving.images import Pixels
from onepeak.serving.model import Answers, Model
from onepeak.serving.out_of_range import with_distance
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.predict import IMAGES_A_BATCH, NO_POSTERIOR, ROWS_A_BATCH, batch_of, notes_of
from onepeak.serving.table_rows import TableRows, rows_of_frame

_USUAL_PIXELS = 512 * 512
"""Images larger than this count as more than one item of a batch."""
_DARK = 24
"""The highest value, of 255, at which an image may hold 12 bits in a 16-bit file: 4095 of 65,535 is 16 of 255."""
_NOTHING = np.zeros((64, 64, 3), np.uint8)


@dataclass(frozen=True, kw_only=True)
class Unanswered:
    """Why one image has no prediction."""

    code: str
    message: str


_About: TypeAlias = tuple[PosteriorOptions, Unlike]
"""How to read one posterior, and how its sample is unlike the training samples."""
_LOST = Unanswered(code="no_posterior", message=NO_POSTERIOR)


@dataclass(frozen=True, kw_only=True, eq=False)
class RequestOutcome:
    """The results of one request."""

    answers: list[Row | Unanswered]
    """One per item, in order."""
    evidence: dict[int, list[list[float]]]
    """Evidence maps by position, if requested."""
    alpha: float | None
    """The alpha of the intervals."""
    notes: tuple[str, ...]


@final
class Predictor:
    """A model that serves many requests at once, all in one event loop."""

    def __init__(self, model: Model, limits: Limits, usual: PosteriorOptions) -> None:
        usual.check(model.description.calibration)
        self.model = model
        self.usual = usual
        self.decoding = Decoding(model, max_pixels=limits.max_pixels, max_network_pixels=limits.max_network_pixels)
        self.batcher = Batcher(max_size=ROWS_A_BATCH if model.reads_tables else IMAGES_A_BATCH)

    def check(self, posterior_options: PosteriorOptions, *, evidence: bool) -> None:
        """Refuses early what this model cannot do."""
        posterior_options.check(self.model.description.calibration)
        if evidence and not self.model.network.has_maps:
            raise InputError("`evidence` needs an image model with maps, got one without: leave it out.")

    async def warm(self) -> None:
        """Runs the model once, as the first prediction takes seconds and no client should wait for that."""
        table = self.model.description.table
        with contextlib.suppress(InputError, RuntimeError):  # the network may need another size
            if table is None:
                await self.batcher.submit(self._answers, (self.model.pixels(_NOTHING), self.usual))
            else:
                empty = np.full((1, len(table.columns)), np.nan)
                rows = FeatureRows(columns=table.columns, values=empty, categories=table.categories)
                await self.batcher.submit(self._row_answers, (rows, self.usual, [None]))

    def close(self) -> None:
        """Ends all threads."""
        self.decoding.close()
        self.batcher.close()

    async def images(
        self, uploads: Sequence[Upload], posterior_options: PosteriorOptions, *, evidence: bool = False
    ) -> RequestOutcome:
        """Predicts for images; a bad one gets its error, and the others are answered.

        Raises:
            RequestError: There is no prediction for any of them.
        """
        # A request is in at most two batches at a time, so that one with many images leaves room for others.
        share = asyncio.Semaphore(2 * IMAGES_A_BATCH)
        maps: dict[int, list[list[float]]] = {}
        dark: dict[int, bytes] = {}

        async def answer(item: int, upload: Upload) -> Row | Unanswered:
            async with share:
                try:
                    async with self.decoding.pixels(upload.data) as pixels:
                        if pixels.max() <= _DARK:
                            dark[item] = upload.data
                        result: Row | Unanswered = await self._submitted(self._answers, pixels, posterior_options)
                        if isinstance(result, Unanswered):
                            return result
                        if evidence:
                            maps[item] = await self._submitted(self._evidence, pixels, result.predicted_index)
                        # Only now: images that waited for it would share fewer batches.
                        unlike = await self.decoding.run(partial(self.model.unlike, pixels))
                        unlike = with_distance(unlike, result.distance)
                        refer = result.refer or (UNLIKE if unlike and self.model.policy else None)
                        return replace(result, source=upload.name or item, unlike=unlike, refer=refer)
                except (InputError, MemoryError) as error:
                    return _reason(error, self.decoding.max_pixels)

        answers = await asyncio.gather(*(answer(item, upload) for item, upload in enumerate(uploads)))
        failed = [each for each in answers if isinstance(each, Unanswered)]
        if len(failed) == len(answers):
            raise _none(failed)
        depth: tuple[str, ...] = ()
        if dark and self.model.description.bits is None:
            names = [called(uploads[item].name or item, "item") for item in sorted(dark)]
            which = names if len(dark) < len(uploads) else []
            files = [dark[item] for item in sorted(dark)]
            depth = await self.decoding.run(partial(depth_notes, files, None, asked=True, names=which))
        marks = [
            (each.source, each.unlike) if isinstance(each, Row) else (item, None) for item, each in enumerate(answers)
        ]
        notes = (*depth, *notes_of(self.model, (), posterior_options, marks, source_name="item"))
        return self._outcome(answers, posterior_options, notes, evidence=maps)

    async def rows(self, rows: Sequence[dict[str, Any]], posterior_options: PosteriorOptions) -> RequestOutcome:
        """Predicts for rows of a table, for all or for none."""
        table = await self.decoding.run(partial(self._table, rows))
        if reasons := table.unanswered:
            first = min(reasons)
            raise RequestError(422, f"`rows[{first}]`: {reasons[first]}.")
        parts = np.array_split(np.arange(len(rows)), -(-len(rows) // ROWS_A_BATCH))
        requests = (
            (table.rows.take(part), posterior_options, [table.unlike[place] for place in part]) for part in parts
        )
        results = (self.batcher.submit(self._row_answers, each, size=len(each[0])) for each in requests)
        answers: list[Row | Unanswered] = [answer for part in await asyncio.gather(*results) for answer in part]
        marks = []
        for place, each in enumerate(answers):
            if isinstance(each, Unanswered):
                raise RequestError(422, f"`rows[{place}]`: {each.message}.")
            marks.append((table.sources[place], each.unlike))
        notes = notes_of(self.model, table, posterior_options, marks, source_name="row")
        return self._outcome(answers, posterior_options, notes)

    def _outcome(
        self,
        answers: list[Row | Unanswered],
        options: PosteriorOptions,
        notes: tuple[str, ...],
        *,
        evidence: dict[int, list[list[float]]] | None = None,
    ) -> RequestOutcome:
        alpha = options.used_alpha(self.model.description.calibration)
        return RequestOutcome(answers=answers, evidence=evidence or {}, alpha=alpha, notes=notes)

    async def _submitted(self, compute: Compute, pixels: Pixels, about: object) -> Any:
        """Computes a result for an image, in a batch with others of its size."""
        height, width = pixels.shape[:2]
        try:
            size = min(-(-height * width // _USUAL_PIXELS), IMAGES_A_BATCH)
            return await self.batcher.submit(compute, (pixels, about), kind=(height, width), size=size)
        except RuntimeError as error:  # torch: a size the network cannot take, or out of memory
            logging.getLogger(__name__).warning("%d x %d pixels: %s", height, width, error)
            raise InputError(f"the network cannot take {height} x {width} pixels") from error

    def _answers(self, requests: Sequence[tuple[Pixels, PosteriorOptions]]) -> list[Row | Unanswered]:
        about: list[_About] = [(options, None) for _, options in requests]
        return self._read(self.model.answers([pixels for pixels, _ in requests]), about)

    def _row_answers(
        self, requests: Sequence[tuple[FeatureRows, PosteriorOptions, Sequence[Unlike]]]
    ) -> list[list[Row | Unanswered]]:
        first = requests[0][0]
        values = np.concatenate([rows.values for rows, _, _ in requests])
        joined = FeatureRows(columns=first.columns, values=values, categories=first.categories)
        about = [(options, unlike) for _, options, marks in requests for unlike in marks]
        answers = iter(self._read(self.model.row_answers(joined), about))
        return [list(islice(answers, len(rows))) for rows, _, _ in requests]

    def _evidence(self, requests: Sequence[tuple[Pixels, int]]) -> list[list[list[float]]]:
        maps = self.model.evidence([pixels for pixels, _ in requests], torch.tensor([label for _, label in requests]))
        rounded: list[list[list[float]]] = maps.double().mul(1e4).round().div(1e4).tolist()
        return rounded

    def _read(self, answers: Answers, about: Sequence[_About]) -> list[Row | Unanswered]:
        """Reads all predictions of a batch, those with the same options together."""
        count, options_of = len(about), [options for options, _ in about]
        raw, _ = batch_of(
            answers, items=list(range(count)), sources=range(count), unlike=[unlike for _, unlike in about]
        )
        if raw is None:
            return [_LOST] * count
        found: dict[int, Row] = {}
        for options in dict.fromkeys(options_of):
            own = raw.take([place for place, item in enumerate(raw.items.tolist()) if options_of[item] == options])
            if len(own):
                found |= zip(own.items.tolist(), self.model.read(own, options).rows(), strict=True)
        return [found.get(item, _LOST) for item in range(count)]

    def _table(self, rows: Sequence[dict[str, Any]]) -> TableRows:
        pandas = require("pandas", extra="data", purpose="A table")
        assert self.model.description.table is not None
        # As objects: otherwise a name that is a number would change when it is next to a missing value.
        return rows_of_frame(pandas.DataFrame(rows, dtype=object), self.model.description.table)


def _reason(error: InputError | MemoryError, max_pixels: int) -> Unanswered:
    match error:
        case TooManyPixelsError():
            return Unanswered(code="too_large", message=f"more pixels than the server accepts ({max_pixels})")
        case TooLargeForNetworkError():
            return Unanswered(code="too_large", message=str(error))
        case MemoryError():
            return Unanswered(code="too_large", message="the server has not enough memory for this image")
        case _:
            return Unanswered(code="unreadable_picture", message=str(error))


def _none(reasons: Sequence[Unanswered]) -> RequestError:
    status = 413 if all(reason.code == "too_large" for reason in reasons) else 422
    if len(reasons) == 1:
        return RequestError(status, f"Could not read the image: {reasons[0].message}.")
    return RequestError(status, f"Could not read any of the {len(reasons)} images; the first: {reasons[0].message}.")
