"""From uploads or rows to what the model says of them, by way of the batches that all requests share."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, final

import numpy as np
import torch
from torch import Tensor

from onepeak._extras import require
from onepeak.data.decode import TooManyPixelsError
from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError
from onepeak.networks.head import MapHead
from onepeak.serving.http.batcher import Batcher
from onepeak.serving.http.decoding import Decoding
from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.limits import Limits
from onepeak.serving.http.uploads import Upload
from onepeak.serving.model import PICTURES_A_BATCH, ROWS_A_BATCH, Model
from onepeak.serving.pictures import Pixels
from onepeak.serving.prediction import Prediction
from onepeak.serving.reading import Reading
from onepeak.serving.table_rows import TableRows, rows_of

_USUAL_PIXELS = 512 * 512
"""Pictures larger than this fill more of a batch than one place."""

Said: TypeAlias = tuple[Tensor, Tensor]
"""The method's own label of one sample, and its posterior."""


@dataclass(frozen=True, kw_only=True)
class Unanswered:
    """Why there is no answer for one picture."""

    code: str
    message: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What became of the items of one request."""

    prediction: Prediction
    """Of those that were answered; `sources` are their positions."""
    evidence: dict[int, list[list[float]]]
    """By position, where it was asked for."""
    unanswered: dict[int, Unanswered]
    """By position."""


@final
class Predictor:
    """A model that many requests ask at once, all in one event loop.

    Args:
        model: Asked by one thread only.
        limits: On pictures.
    """

    def __init__(self, model: Model, limits: Limits) -> None:
        self.model = model
        self.decoding = Decoding(model, max_pixels=limits.max_pixels)
        self.batcher = Batcher(max_size=ROWS_A_BATCH if model.reads_tables else PICTURES_A_BATCH)

    def check(self, reading: Reading, *, evidence: bool) -> None:
        """Refuses at once what this model cannot do."""
        reading.check(self.model.description.calibration)
        if evidence and not isinstance(self.model.network.head, MapHead):
            raise InputError("`evidence` needs a model of pictures with maps, got one without: leave it out.")

    def close(self) -> None:
        """Ends all threads."""
        self.decoding.close()
        self.batcher.close()

    async def pictures(self, uploads: Sequence[Upload], reading: Reading, *, evidence: bool = False) -> Outcome:
        """What the model says of pictures; a bad one is told of beside the others.

        Args:
            uploads: The files.
            reading: What to make of the posteriors.
            evidence: Whether to give a map of evidence with each.
        """
        # A request takes part in two batches at a time at most, so that one with many pictures leaves room for others.
        share = asyncio.Semaphore(2 * PICTURES_A_BATCH)
        maps: dict[int, list[list[float]]] = {}

        async def answer(item: int, upload: Upload) -> Said | Unanswered:
            async with share:
                try:
                    async with self.decoding.pixels(upload.data) as pixels:
                        said: Said | Unanswered = await self._asked(self._answers, pixels, pixels)
                        if evidence and not isinstance(said, Unanswered):
                            label = self._read([said], (item,), reading).labels
                            maps[item] = (await self._asked(self._evidence, pixels, (pixels, label))).tolist()
                        return said
                except (InputError, MemoryError) as error:
                    return _reason(error, self.decoding.max_pixels)

        found = await asyncio.gather(*(answer(item, upload) for item, upload in enumerate(uploads)))
        answered = {item: each for item, each in enumerate(found) if not isinstance(each, Unanswered)}
        unanswered = {item: each for item, each in enumerate(found) if isinstance(each, Unanswered)}
        if not answered:
            raise _none(list(unanswered.values()))
        read = partial(self._read, list(answered.values()), tuple(answered), reading)
        return Outcome(prediction=await self.decoding.run(read), evidence=maps, unanswered=unanswered)

    async def rows(self, rows: Sequence[dict[str, Any]], reading: Reading) -> Outcome:
        """What the model says of rows of a table: of all, or of none.

        Args:
            rows: A value a column each.
            reading: What to make of the posteriors.
        """
        table = await self.decoding.run(partial(self._table, rows))
        parts = [table.rows.take(part) for part in np.array_split(np.arange(len(rows)), -(-len(rows) // ROWS_A_BATCH))]
        asked = (self.batcher.submit(self._row_answers, part, size=len(part)) for part in parts)
        labels, log_probs = map(torch.cat, zip(*await asyncio.gather(*asked), strict=True))
        if log_probs.isnan().any():
            place = int(log_probs.isnan().any(dim=-1).nonzero()[0])
            raise RequestError(422, f"`rows[{place}]`: the model has no posterior for numbers as large as these.")
        read = partial(
            self.model.prediction, labels, log_probs, table.sources, reading, source_name="row", notes=table.notes
        )
        return Outcome(prediction=await self.decoding.run(read), evidence={}, unanswered={})

    async def _asked(self, compute: Any, pixels: Pixels, item: object) -> Any:
        """What the network says of a picture, in a batch with others of its size."""
        height, width = pixels.shape[:2]
        try:
            size = min(-(-height * width // _USUAL_PIXELS), PICTURES_A_BATCH)
            return await self.batcher.submit(compute, item, kind=(height, width), size=size)
        except RuntimeError as error:  # a size the network cannot take, or no memory for it: torch says so
            logging.getLogger(__name__).warning("%d x %d pixels: %s", height, width, error)
            message = f"the network cannot take {height} x {width} pixels"
            raise InputError(message) from error

    def _answers(self, pictures: Sequence[Pixels]) -> list[Said | Unanswered]:
        labels, log_probs = self.model.answers(pictures)
        lost = Unanswered(code="no_posterior", message="the model has no posterior for this picture")
        broken = log_probs.isnan().any(dim=-1).tolist()
        return [lost if each else said for each, said in zip(broken, zip(labels, log_probs, strict=True), strict=True)]

    def _evidence(self, asked: Sequence[tuple[Pixels, Tensor]]) -> list[Tensor]:
        maps = self.model.evidence([pixels for pixels, _ in asked], torch.cat([label for _, label in asked]))
        return list(maps.double().mul(1e4).round().div(1e4))

    def _row_answers(self, parts: Sequence[FeatureRows]) -> list[Said]:
        values = np.concatenate([part.values for part in parts])
        joined = FeatureRows(columns=parts[0].columns, values=values, categories=parts[0].categories)
        labels, log_probs = self.model.row_answers(joined)
        lengths = [len(part) for part in parts]
        return list(zip(labels.split(lengths), log_probs.split(lengths), strict=True))

    def _table(self, rows: Sequence[dict[str, Any]]) -> TableRows:
        pandas = require("pandas", extra="data", purpose="A table")
        assert self.model.description.table is not None
        # As objects: a name that is a number would else become another one beside a missing value.
        return rows_of(pandas.DataFrame(rows, dtype=object), self.model.description.table)

    def _read(self, said: Sequence[Said], items: tuple[int, ...], reading: Reading) -> Prediction:
        labels, log_probs = (torch.stack(parts) for parts in zip(*said, strict=True))
        return self.model.prediction(labels, log_probs, items, reading)


def _reason(error: InputError | MemoryError, max_pixels: int) -> Unanswered:
    match error:
        case TooManyPixelsError():
            return Unanswered(code="too_large", message=f"more pixels than the server takes ({max_pixels})")
        case MemoryError():
            return Unanswered(code="too_large", message="the server has no memory for this picture")
        case _:
            return Unanswered(code="unreadable_picture", message=str(error))


def _none(reasons: Sequence[Unanswered]) -> RequestError:
    status = 413 if all(reason.code == "too_large" for reason in reasons) else 422
    if len(reasons) == 1:
        return RequestError(status, f"The picture cannot be answered: {reasons[0].message}.")
    return RequestError(
        status, f"None of the {len(reasons)} pictures can be answered; the first: {reasons[0].message}."
    )
