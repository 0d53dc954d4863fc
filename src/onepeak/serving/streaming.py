"""Predicts for images one by one in constant memory, or for rows of a table; a bad one becomes a row with its error."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from onepeak._core.check import check_integer
from onepeak.errors import InputError
from onepeak.serving.image_batches import Batch, SizeBatches
from onepeak.serving.images import AnyImage, Pixels, Unnamed
from onepeak.serving.model import IMAGES_A_BATCH, ROWS_A_BATCH, Model
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.prediction import Row
from onepeak.serving.table_rows import TableRows


def stream(
    model: Model,
    images: Iterable[AnyImage | Unnamed],
    *,
    batch_size: int = IMAGES_A_BATCH,
    posterior_options: PosteriorOptions = PosteriorOptions(),  # noqa: B008 - immutable
) -> Iterator[Row]:
    """Predicts one by one, in the order of the images, while later ones are still unread.

    Whatever is wrong with an image (missing, not an image, truncated, a size that the network cannot take) becomes the
    `error` of its row, and the others continue. However many images come, only a few batches of them are in memory.

    Args:
        model: An image model.
        images: Paths, PIL images or arrays of one image each, or rows of a list without an image; consumed as needed.
        batch_size: The most images computed at once.
        posterior_options: How to read the posteriors.

    Yields:
        One row per image.
    """
    if model.reads_tables:
        raise InputError("`model` must be an image model, got a table model: use its `predict`.")
    check_integer("batch_size", batch_size, minimum=1)
    posterior_options.check(model.description.calibration)
    return _rows(model, images, batch_size, posterior_options)


def stream_rows(
    model: Model,
    table: TableRows,
    *,
    batch_size: int = ROWS_A_BATCH,
    posterior_options: PosteriorOptions = PosteriorOptions(),  # noqa: B008 - immutable
) -> Iterator[Row]:
    """Predicts one by one for the rows of a table; a row without a prediction has an `error` that says why.

    There is no prediction for rows with an unreadable cell, for rows without any value in the model's columns, whose
    prediction would be the same for every sample, and for rows whose posterior is not finite.

    Args:
        model: A table model.
        table: Rows with the model's columns and codes; see `onepeak.serving.table_rows.rows_of_file`.
        batch_size: The most rows computed at once.
        posterior_options: How to read the posteriors.

    Yields:
        One row per row of the table.
    """
    check_integer("batch_size", batch_size, minimum=1)
    errors = table.unanswered
    for places in np.split(np.arange(len(table.rows)), range(batch_size, len(table.rows), batch_size)):
        labels, log_probs = model.row_answers(table.rows.take(places))
        names = tuple(table.sources[place] for place in places)
        unlike = tuple(table.unlike[place] for place in places)
        predictions = model.rows(labels, log_probs, names, posterior_options, unlike=unlike)
        for place, row in zip(places.tolist(), predictions, strict=True):
            yield Row(source=row.source, error=errors[place]) if place in errors else row


def _rows(
    model: Model, images: Iterable[AnyImage | Unnamed], batch_size: int, posterior_options: PosteriorOptions
) -> Iterator[Row]:
    waiting = SizeBatches(batch_size)
    sources: dict[int, str | int] = {}  # of images whose rows are not yielded yet
    ready: dict[int, Row] = {}
    given = 0
    for place, image in enumerate(images):
        sources[place] = _source(image, place)
        try:
            batches = waiting.add(place, _pixels(model, image))
        except InputError as error:
            ready[place] = Row(source=sources[place], error=str(error))
            batches = waiting.overdue(place)
        for batch in batches:
            ready.update(_answered(model, batch, sources, posterior_options))
        while given in ready:
            del sources[given]
            yield ready.pop(given)
            given += 1
    for batch in waiting.rest():
        ready.update(_answered(model, batch, sources, posterior_options))
    for place in sorted(ready):
        yield ready[place]


def _source(image: AnyImage | Unnamed, place: int) -> str | int:
    if isinstance(image, Unnamed):
        return image.source
    return str(image) if isinstance(image, str | Path) else place


def _pixels(model: Model, image: AnyImage | Unnamed) -> Pixels:
    if isinstance(image, Unnamed):
        raise InputError(image.error)
    return model.pixels(image)


def _answered(
    model: Model, batch: Batch, sources: dict[int, str | int], posterior_options: PosteriorOptions
) -> Iterator[tuple[int, Row]]:
    places = [place for place, _ in batch]
    names = tuple(sources[place] for place in places)
    try:
        labels, log_probs = model.answers([pixels for _, pixels in batch])
        unlike = tuple(model.unlike(pixels) for _, pixels in batch)
        yield from zip(
            places, list(model.rows(labels, log_probs, names, posterior_options, unlike=unlike)), strict=True
        )
    except (InputError, RuntimeError) as error:  # torch: a size the network cannot take, or out of memory
        height, width = batch[0][1].shape[:2]
        reason = str(error).partition("\n")[0]
        for place, name in zip(places, names, strict=True):
            yield place, Row(source=name, error=f"the network cannot take {height} x {width} pixels: {reason}")
