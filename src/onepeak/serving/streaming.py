"""Answers one by one for pictures in constant memory, or for rows of a table; a bad one is a row with its error."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from onepeak._check import check_integer
from onepeak.errors import InputError
from onepeak.serving.model import PICTURES_A_BATCH, ROWS_A_BATCH, Model
from onepeak.serving.paths import Unnamed
from onepeak.serving.pictures import Picture, Pixels
from onepeak.serving.prediction import Row
from onepeak.serving.reading import Reading
from onepeak.serving.size_batches import Batch, SizeBatches
from onepeak.serving.table_rows import TableRows


def stream(
    model: Model,
    pictures: Iterable[Picture | Unnamed],
    *,
    batch_size: int = PICTURES_A_BATCH,
    reading: Reading = Reading(),  # noqa: B008 - it never changes
) -> Iterator[Row]:
    """Answers one by one, in the order of the pictures, while later ones are still unread.

    Whatever is wrong with a picture (missing, no picture, cut off, a size that the network cannot take) is the `error`
    of its row, and the others are answered all the same. However many pictures come, only a few batches of them are in
    memory.

    Args:
        model: A model of pictures.
        pictures: Paths, PIL images or arrays of one picture each, or rows of a list that name none; taken as needed.
        batch_size: The most pictures computed at once.
        reading: What to make of the posteriors.

    Yields:
        One row per picture.
    """
    if model.reads_tables:
        raise InputError("`model` must be one of pictures, got one of a table: use its `predict`.")
    check_integer("batch_size", batch_size, minimum=1)
    reading.check(model.description.calibration)
    return _rows(model, pictures, batch_size, reading)


def stream_rows(
    model: Model,
    table: TableRows,
    *,
    batch_size: int = ROWS_A_BATCH,
    reading: Reading = Reading(),  # noqa: B008 - it never changes
) -> Iterator[Row]:
    """Answers one by one for the rows of a table; the `error` of a row says why it has none.

    None have rows with a cell that cannot be read, rows without any value in the columns of the model, whose answer
    would be the same whatever the sample, and rows that the model has no posterior for.

    Args:
        model: A model of a table.
        table: With the columns and codes of the model; see `onepeak.serving.table_rows.rows_of_file`.
        batch_size: The most rows computed at once.
        reading: What to make of the posteriors.

    Yields:
        One answer per row.
    """
    check_integer("batch_size", batch_size, minimum=1)
    errors = table.unanswered
    for places in np.split(np.arange(len(table.rows)), range(batch_size, len(table.rows), batch_size)):
        labels, log_probs = model.row_answers(table.rows.take(places))
        names = tuple(table.sources[place] for place in places)
        unlike = tuple(table.unlike[place] for place in places)
        said = model.rows(labels, log_probs, names, reading, unlike=unlike)
        for place, row in zip(places.tolist(), said, strict=True):
            yield Row(source=row.source, error=errors[place]) if place in errors else row


def _rows(model: Model, pictures: Iterable[Picture | Unnamed], batch_size: int, reading: Reading) -> Iterator[Row]:
    waiting = SizeBatches(batch_size)
    sources: dict[int, str | int] = {}  # of the pictures whose rows are not given yet
    ready: dict[int, Row] = {}
    given = 0
    for place, picture in enumerate(pictures):
        sources[place] = _source(picture, place)
        try:
            batches = waiting.add(place, _pixels(model, picture))
        except InputError as error:
            ready[place] = Row(source=sources[place], error=str(error))
            batches = waiting.overdue(place)
        for batch in batches:
            ready.update(_answered(model, batch, sources, reading))
        while given in ready:
            del sources[given]
            yield ready.pop(given)
            given += 1
    for batch in waiting.rest():
        ready.update(_answered(model, batch, sources, reading))
    for place in sorted(ready):
        yield ready[place]


def _source(picture: Picture | Unnamed, place: int) -> str | int:
    if isinstance(picture, Unnamed):
        return picture.source
    return str(picture) if isinstance(picture, str | Path) else place


def _pixels(model: Model, picture: Picture | Unnamed) -> Pixels:
    if isinstance(picture, Unnamed):
        raise InputError(picture.error)
    return model.pixels(picture)


def _answered(model: Model, batch: Batch, sources: dict[int, str | int], reading: Reading) -> Iterator[tuple[int, Row]]:
    places = [place for place, _ in batch]
    names = tuple(sources[place] for place in places)
    try:
        labels, log_probs = model.answers([pixels for _, pixels in batch])
        unlike = tuple(model.unlike(pixels) for _, pixels in batch)
        yield from zip(places, list(model.rows(labels, log_probs, names, reading, unlike=unlike)), strict=True)
    except (InputError, RuntimeError) as error:  # a size the network cannot take, or no memory for it: torch says so
        height, width = batch[0][1].shape[:2]
        reason = str(error).partition("\n")[0]
        for place, name in zip(places, names, strict=True):
            yield place, Row(source=name, error=f"the network cannot take {height} x {width} pixels: {reason}")
