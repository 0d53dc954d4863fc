"""The one stream of predictions: behind `Model.predict`, `onepeak predict`, `evaluate`, `serve` and `inspect`.

Samples go through the network in batches, and come out as `Predictions` before calibration; a sample that cannot be
read or has no posterior is a `Failed` one, and the others continue. What the user should know is collected here too.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias, final, get_args

import numpy as np
import torch

from onepeak._core.check import check_choice, check_integer
from onepeak._core.wording import counted, listed
from onepeak.data.images.decode import UnreadableImageError, depth_notes
from onepeak.errors import InputError, NotFiniteError
from onepeak.posterior.predictions import Combine, Predictions, Row, SourceName, Unlike, called
from onepeak.posterior.predictions import Prediction as Prediction
from onepeak.serving.images import AnyImage, Pixels, Unnamed
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.table_rows import TableRows
from onepeak.training.model_files import ModelDescription

if TYPE_CHECKING:  # a model predicts by this stream
    from onepeak.serving.model import Model

Samples: TypeAlias = Iterable[AnyImage | Unnamed] | TableRows

IMAGES_A_BATCH = 32
ROWS_A_BATCH = 4096
NO_POSTERIOR = "the model has no posterior for it, as with numbers far beyond those it was trained on"


@dataclass(frozen=True, kw_only=True)
class Failed:
    """A sample without a prediction."""

    item: int
    """Its position among the inputs."""
    source: str | int
    error: InputError

    @property
    def row(self) -> Row:
        """The sample as a row of the output."""
        return Row(source=self.source, error=str(self.error))


def stream(
    model: "Model",
    samples: Samples,
    *,
    batch_size: int | None = None,
    posterior_options: PosteriorOptions = PosteriorOptions(),  # noqa: B008 - immutable
) -> Iterator[Row]:
    """Predicts one by one, in the order of the samples, while later images are still unread.

    Whatever is wrong with a sample (an image that is missing, damaged or of a size that the network cannot take; a row
    with an unreadable cell or without any value) becomes the `error` of its row, and the others continue. However many
    images come, only a few batches of them are in memory.

    Args:
        model: A model of images or of rows.
        samples: Paths, PIL images or arrays of one image each, consumed as needed; or the rows of a table, from
            `onepeak.serving.table_rows.rows_of_file`.
        batch_size: The most samples computed at once; by default 32 images or 4096 rows.
        posterior_options: How to read the posteriors.

    Yields:
        One row per sample.
    """
    if model.reads_tables != isinstance(samples, TableRows):
        wanted, found = ("a table", "images") if model.reads_tables else ("images", "rows of a table")
        raise InputError(f"`model` must fit the samples, got a model of {wanted} and {found}.")
    posterior_options.check(model.description.calibration)
    return _in_order(model, _batches(model, samples, batch_size), posterior_options)


def _in_order(model: "Model", batches: "Iterator[Batch]", options: PosteriorOptions) -> Iterator[Row]:
    ready: dict[int, Row] = {}
    given = 0
    for raw, failed in batches:
        if raw is not None:
            ready.update(zip(raw.items.tolist(), model.read(raw, options).rows(), strict=True))
        ready.update((each.item, each.row) for each in failed)
        while given in ready:
            yield ready.pop(given)
            given += 1


def predict_all(
    model: "Model", samples: Samples, *, batch_size: int | None = None, on_failure: Literal["raise", "collect"]
) -> tuple[Predictions, list[Failed]]:
    """Returns the predictions before calibration for all samples that have one, in order, and the other samples."""
    source_name = samples.source_name if isinstance(samples, TableRows) else "item"

    def batches() -> Iterator[Batch]:
        for raw, failed in _batches(model, samples, batch_size):
            if failed and on_failure == "raise":
                _refuse(failed[0], source_name)
            yield raw, failed

    return in_order(batches(), len(model.classes))


def in_order(batches: "Iterable[Batch]", num_classes: int) -> tuple[Predictions, list[Failed]]:
    """Returns the predictions of all batches, and the samples without one, each in the order of the samples."""
    parts, failures = [], []
    for raw, failed in batches:
        failures += failed
        if raw is not None:
            parts.append(raw)
    failures.sort(key=lambda each: each.item)
    if not parts:
        none = torch.empty(0, num_classes)
        return Predictions(predicted_index=none.new_empty(0, dtype=torch.int64), log_probs=none), failures
    whole = Predictions.joined(parts)
    return whole.take(np.argsort(whole.items).tolist()), failures


def predict_groups(
    model: "Model",
    samples: Samples,
    groups: Sequence[str],
    how: Combine,
    options: PosteriorOptions,
    *,
    batch_size: int | None = None,
) -> tuple[list[Row], list[Failed]]:
    """Returns one row per group, in the order in which groups come, and the samples left out; see `Model.read_groups`.

    A group none of whose samples has a prediction gets the error of the first.
    """
    raw, failed = predict_all(model, samples, batch_size=batch_size, on_failure="collect")
    source_name = samples.source_name if isinstance(samples, TableRows) else "item"
    rows = {}
    for each in reversed(failed):
        name = groups[each.item]
        rows[name] = Row(source=name, error=f"{called(each.source, source_name)}: {each.error}")
    if len(raw):
        names = [groups[item] for item in raw.items.tolist()]
        rows |= {str(row.source): row for row in model.read_groups(raw, names, how, options).rows()}
    return [rows[name] for name in dict.fromkeys(groups)], failed


def check_combine(how: Combine, options: PosteriorOptions) -> None:
    """Refuses options that have no effect on how a group is predicted."""
    check_choice("combine", how, get_args(Combine))
    if how == "mean" and (options.decide is not None or options.project):
        unused = "decide" if options.decide is not None else "project"
        raise InputError(f"`{unused}` has no effect if `combine` is 'mean', which predicts the mode: leave it out.")


def group_notes(model: "Model", how: Combine, options: PosteriorOptions) -> tuple[str, ...]:
    """Returns what the user should know of one prediction per group."""
    calibration, notes = model.description.calibration, []
    alpha = options.used_alpha(calibration)
    if calibration is not None and alpha is not None and not calibration.allows_groups(alpha, how):
        had = counted(calibration.num_groups, "group") if calibration.num_groups else "no groups of several samples"
        notes.append(
            f"intervals of groups join those of their samples, and are not calibrated on groups: the model's "
            f"validation part had {had}"
        )
    return tuple(notes)


def _refuse(failed: Failed, source_name: SourceName) -> None:
    match failed.error:
        case UnreadableImageError():
            name = failed.source if isinstance(failed.source, str) else f"Image {failed.item} of `inputs`"
            raise InputError(f"{name} cannot be read: {failed.error}.") from failed.error
        case NotFiniteError():
            name = called(failed.source, source_name)
            raise NotFiniteError(f"{name} of the inputs has no prediction: {failed.error}.")
    raise failed.error


def notes_of(
    model: "Model",
    samples: Samples,
    options: PosteriorOptions,
    unlike: Sequence[tuple[str | int, Unlike]] = (),
    *,
    source_name: SourceName = "path",
) -> tuple[str, ...]:
    """Returns what the user should know of the predictions for these samples."""
    if isinstance(samples, TableRows):
        notes = samples.notes
    else:
        files = [Path(image) for image in samples if isinstance(image, str | Path)]
        notes = depth_notes(files, model.description.bits, asked=True)
    marked = unlike_notes(unlike, len(unlike), source_name=source_name)
    policy = model.policy
    if policy is not None and policy.combine is not None and source_name != "group":
        notes = (*notes, "the model's policy was set on groups: each sample is judged as a group of its own")
    return (*notes, *marked, *options.notes(model.description.calibration))


def unlike_notes(
    samples: Iterable[tuple[str | int, Unlike]], total: int, *, source_name: SourceName
) -> tuple[str, ...]:
    """Returns a note that counts and names samples unlike the training; empty if there are none.

    Example:
        >>> unlike_notes([("a.png", ("contrast",)), ("b.png", ("contrast", "grain"))], 9, source_name="path")[0][:72]
        'unlike the training data, do not rely on such predictions: 2 of 9 images'
    """
    found = [(source, by) for source, by in samples if by]
    if not found:
        return ()
    noun = {"path": "image", "item": "image", "group": "group"}.get(source_name, "row")
    counts = Counter(name for _, by in found for name in by)
    by = listed(f"{name} ({count:,})" for name, count in counts.items())
    which = listed(called(source, source_name) for source, _ in found)
    return (
        "unlike the training data, do not rely on such predictions: "
        f"{len(found):,} of {counted(total, noun)}, by {by}: {which}",
    )


def unknown_notes(description: ModelDescription) -> tuple[str, ...]:
    """Returns a note if a model cannot tell what is unlike its training."""
    if description.table is None and description.image_range is None:
        return (
            "cannot check whether images are unlike the training: the model is from an earlier version, or was "
            "trained on too few",
        )
    if description.table is not None and not description.table.lowest:
        return ("cannot check whether numbers are unlike the training: the model is from an earlier version",)
    return ()


Batch: TypeAlias = tuple[Predictions | None, list[Failed]]
"""Some samples that went through the network, by their positions in `items`; and those that have no prediction."""


def batch_of(
    answers: Predictions,
    *,
    items: list[int],
    sources: Iterable[str | int],
    unlike: Iterable[Unlike] = (),
    source_name: SourceName = "item",
    errors: Mapping[int, str] = MappingProxyType({}),
) -> Batch:
    """Sorts out the samples that have an error, by their position in `items`, or no finite posterior."""
    far = [None] * len(answers) if answers.distance is None else answers.distance.tolist()
    raw = replace(
        answers,
        items=np.array(items, dtype=np.int64),
        sources=tuple(sources),
        source_name=source_name,
        unlike=tuple(map(_with_distance, unlike, far)),
    )
    failed: list[Failed] = []
    lost = raw.log_probs.isnan().any(dim=-1).tolist()
    for item, source, gone in zip(items, raw.sources, lost, strict=True):
        if item in errors:
            failed.append(Failed(item=item, source=source, error=InputError(errors[item])))
        elif gone:
            failed.append(Failed(item=item, source=source, error=NotFiniteError(NO_POSTERIOR)))
    if failed:
        wrong = {each.item for each in failed}
        raw = raw.take([place for place, item in enumerate(items) if item not in wrong])
    return (raw if len(raw) else None), failed


def _with_distance(unlike: Unlike, distance: float | None) -> Unlike:
    """Adds "features" if the sample lies farther from the training samples than 1."""
    return unlike if distance is None else (*(unlike or ()), *(("features",) if distance > 1 else ()))


def _batches(model: "Model", samples: Samples, batch_size: int | None) -> Iterator[Batch]:
    if isinstance(samples, TableRows):
        return _row_batches(model, samples, check_integer("batch_size", batch_size or ROWS_A_BATCH, minimum=1))
    waiting = SizeBatches(IMAGES_A_BATCH if batch_size is None else batch_size)
    return _image_batches(model, samples, waiting)


def _row_batches(model: "Model", table: TableRows, batch_size: int) -> Iterator[Batch]:
    for places in np.split(np.arange(len(table.rows)), range(batch_size, len(table.rows), batch_size)):
        # Rows with an error are computed with the others, so that these do not depend on them, not even in a bit.
        yield batch_of(
            model.row_answers(table.rows.take(places)),
            items=places.tolist(),
            sources=(table.sources[place] for place in places),
            unlike=(table.unlike[place] for place in places),
            source_name=table.source_name,
            errors=table.unanswered,
        )


def _image_batches(model: "Model", images: Iterable[AnyImage | Unnamed], waiting: "SizeBatches") -> Iterator[Batch]:
    sources: dict[int, str | int] = {}  # of images that wait
    for item, image in enumerate(images):
        try:
            if isinstance(image, Unnamed):
                sources[item] = image.source
                raise InputError(image.error)
            sources[item] = str(image) if isinstance(image, str | Path) else item
            batches = waiting.add(item, model.pixels(image))
        except InputError as error:
            yield None, [Failed(item=item, source=sources.pop(item), error=error)]
            batches = waiting.overdue(item)
        for batch in batches:
            yield _through(model, batch, sources)
    for batch in waiting.rest():
        yield _through(model, batch, sources)


def _through(model: "Model", batch: "SizeBatch", sources: dict[int, str | int]) -> Batch:
    items, images = [item for item, _ in batch], [pixels for _, pixels in batch]
    names = [sources.pop(item) for item in items]
    try:
        unlike = [model.unlike(pixels) for pixels in images]
        return batch_of(model.answers(images), items=items, sources=names, unlike=unlike)
    except (InputError, RuntimeError) as error:  # torch: a size the network cannot take, or out of memory
        height, width = images[0].shape[:2]
        reason = str(error).partition("\n")[0]
        wrong = InputError(f"the network cannot take {height} x {width} pixels: {reason}")
        return None, [Failed(item=item, source=name, error=wrong) for item, name in zip(items, names, strict=True)]


SizeBatch: TypeAlias = list[tuple[int, Pixels]]
"""Positions and images, all of one size."""
_MOST_BYTES = 256 * 2**20
_WINDOW = 8
"""How many batches' worth of later images one image waits for others of its size."""


@final
class SizeBatches:
    """Holds images until a batch of their size is full, or they have waited long enough.

    No image is padded or cropped, so only images of one size share a batch. If all sizes fill their batches, the
    batches are those of `onepeak.data.images.augment.evaluation_batches`.

    Example:
        >>> waiting = SizeBatches(2)
        >>> images = [np.zeros((side, side, 3), np.uint8) for side in (8, 9, 8, 8)]
        >>> batches = [batch for place, each in enumerate(images) for batch in waiting.add(place, each)]
        >>> [[place for place, _ in batch] for batch in [*batches, *waiting.rest()]]
        [[0, 2], [1], [3]]
    """

    def __init__(self, batch_size: int) -> None:
        self.batch_size = check_integer("batch_size", batch_size, minimum=1)
        self._waiting: dict[tuple[int, ...], SizeBatch] = {}  # the size that has waited longest is first
        self._bytes = 0

    def add(self, place: int, pixels: Pixels) -> Iterator[SizeBatch]:
        """Adds an image and yields the batches that are now ready. Positions must rise."""
        batch = self._waiting.setdefault(pixels.shape, [])
        batch.append((place, pixels))
        self._bytes += pixels.nbytes
        if len(batch) == self.batch_size:
            yield self._taken(pixels.shape)
        yield from self.overdue(place)

    def overdue(self, place: int) -> Iterator[SizeBatch]:
        """Yields the batches that have waited long enough by this position."""
        while self._waiting:
            size, batch = next(iter(self._waiting.items()))
            if self._bytes <= _MOST_BYTES and place - batch[0][0] < _WINDOW * self.batch_size:
                return
            yield self._taken(size)

    def rest(self) -> Iterator[SizeBatch]:
        """Yields all that still wait."""
        while self._waiting:
            yield self._taken(next(iter(self._waiting)))

    def _taken(self, size: tuple[int, ...]) -> SizeBatch:
        batch = self._waiting.pop(size)
        self._bytes -= sum(pixels.nbytes for _, pixels in batch)
        return batch
