"""How good a trained model is on data it is shown now."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import torch

from onepeak._core.check import check_choice
from onepeak._core.wording import counted
from onepeak.data.images.depth import depth_notes
from onepeak.data.images.store.failures import BadImage, UnreadableImagesError
from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Items, Manifest
from onepeak.data.order import shown_order
from onepeak.data.splits.leaks import item_digests
from onepeak.errors import InputError
from onepeak.experiment.results import PREDICTIONS, read_predictions
from onepeak.metrics.catalog import NAMES
from onepeak.metrics.functional import confusion_matrix
from onepeak.posterior import covers, sizes
from onepeak.serving.confidence import Confidence, confidence_of
from onepeak.serving.evaluation_data import check_kind, check_rows
from onepeak.serving.images import AnyImage
from onepeak.serving.model import IMAGES_A_BATCH, Model
from onepeak.serving.out_of_range import unlike_notes, unlike_rows
from onepeak.serving.posterior_options import PosteriorOptions
from onepeak.serving.prediction import Prediction, Row
from onepeak.serving.streaming import stream
from onepeak.training.calibration import figures_of, frequency_gap, frequency_note
from onepeak.training.evaluate import Predictions, measure
from onepeak.training.model_files import HELD_OUT_ITEMS, load_held_out_items, short


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """What a model says of a data set, and how good that is."""

    metrics: dict[str, float]
    """Every metric of the catalog, over the items that could be read; NaN where one is not defined. Of the labels
    decided on, and of posteriors that are not calibrated (but projected, if asked for)."""
    calibrated: dict[str, float]
    """How good the posteriors are that `predict` shows: nll, rps, ece, and of their intervals the alpha, coverage and
    interval_size, where there are any."""
    cost: float | None
    """What an item costs on average, where the costs of mistakes were given."""
    paradoxical: float
    """The share of items whose second most probable class is no neighbour of the first."""
    class_counts: tuple[int, ...]
    """How many items of each class were measured."""
    prediction: Prediction
    """What the model says of them, as `Model.predict` does."""
    labels: torch.Tensor
    """Their true labels."""
    trained_on: npt.NDArray[np.bool_]
    """Whether the model was trained on each of them, byte for byte (of a table: on a row with the same features)."""
    confidence: Confidence | None = None
    """How far the figures may be off because few items were measured; None if that was not asked for."""
    failed: tuple[Row, ...] = ()
    """The images that could not be read and were left out, with their errors."""
    notes: tuple[str, ...] = ()
    """What was done on the user's behalf, to be shown."""

    @property
    def confusion(self) -> list[list[int]]:
        """How many items of each class (row) were given each label (column)."""
        table = confusion_matrix(self.prediction.labels, self.labels, num_classes=len(self.class_counts))
        return [[int(count) for count in row] for row in table.tolist()]

    @property
    def intervals_by_class(self) -> list[tuple[float, float]] | None:
        """The coverage and the mean size of the intervals of each true class; None if there are no intervals.

        NaN for a class without items. The guarantee of 1 - alpha is over all classes together: a rare class may be
        covered far less.
        """
        intervals = self.prediction.intervals
        if intervals is None:
            return None
        within, length = covers(intervals, self.labels).double(), sizes(intervals).double()
        mine = [self.labels == label for label in range(len(self.class_counts))]
        return [(float(within[own].mean()), float(length[own].mean())) for own in mine]

    @property
    def num_trained_on(self) -> int:
        """How many of the items the model was trained on."""
        return int(self.trained_on.sum())


def evaluate(
    model: Model,
    data: Manifest,
    *,
    batch_size: int | None = None,
    skip_bad: bool = False,
    alpha: float | None = None,
    decide: str | None = None,
    cost: object = None,
    project: bool = False,
    confidence: bool = False,
) -> Evaluation:
    """Measures a model on a data set, all of it.

    Args:
        model: The model.
        data: Its classes must be the model's; classes without an item may be left out. Rows of a table must have the
            model's columns and codes, as `onepeak.serving.evaluation_data.open_for` reads them.
        batch_size: The most samples computed at once; 32 images or 4096 rows where not given.
        skip_bad: Whether to leave out images that cannot be read.
        alpha: The share of items whose interval may miss the true label, as in `Model.predict`.
        decide: How labels follow from the calibrated posteriors, as there; the method's own way where not given.
        cost: What each mistake costs, as there; the mean cost is then measured too.
        project: Whether to measure the nearest posteriors that have one peak.
        confidence: Whether to find confidence intervals of the figures too, in at most about five seconds.

    Raises:
        UnreadableImagesError: Some images cannot be read; the message lists them.
    """
    posterior_options = model.posterior_options(alpha=alpha, decide=decide, cost=cost, project=project)
    check_kind(model, images=not isinstance(data.items, FeatureRows))
    data, notes = with_classes_of(model, data)
    labels = torch.from_numpy(data.labels.copy())
    failed: tuple[Row, ...] = ()
    if isinstance(data.items, FeatureRows):
        check_rows(model, data.items)
        unlike = () if model.description.table is None else unlike_rows(data.items, model.description.table)
        answers = model.row_answers(data.items, batch_size=batch_size)
        places = tuple(range(len(data)))
        own = model.prediction(*answers, places, PosteriorOptions(raw=True), source_name="row", unlike=unlike)
    else:
        own, good, failed = _predict_images(model, data.items, batch_size, skip_bad=skip_bad)
        data, labels = data.take(good), labels[good]
    prediction = model.prediction(
        own.labels, own.log_probs, own.sources, posterior_options, source_name=own.source_name, unlike=own.unlike
    )
    names = tuple(map(str, data.rows)) if data.rows and isinstance(data.items, FeatureRows) else own.sources
    measured = Predictions(
        indices=np.arange(len(labels)),
        labels=labels,
        predicted=prediction.labels,
        log_probs=posterior_options.projected(own.log_probs, own.labels),
    )
    metrics = measure(measured, names=NAMES)
    costs = None if posterior_options.cost is None else torch.tensor(posterior_options.cost)[labels, prediction.labels]
    unlike_note = None
    if confidence:
        trained_groups = model.description.group
        unlike_note = confidence_of(
            measured, prediction, costs=costs, groups=data.groups, trained_groups=trained_groups
        )
    return Evaluation(
        metrics=metrics,
        calibrated=figures_of(prediction.log_probs, labels, prediction.intervals, prediction.alpha),
        cost=None if costs is None else float(costs.mean()),
        paradoxical=float(prediction.paradoxical.double().mean()),
        class_counts=tuple(labels.bincount(minlength=len(model.classes)).tolist()),
        prediction=prediction,
        labels=labels,
        trained_on=_trained_on(model, data.items),
        confidence=unlike_note,
        failed=failed,
        notes=(
            *data.notes,
            *notes,
            *_depth_notes(data, model),
            *unlike_notes(zip(names, own.unlike, strict=True), len(names), source_name=own.source_name),
            *prediction.notes,
            *_frequency_notes(model, data, prediction.log_probs, labels, one_peaked=metrics["unimodal"]),
            *(() if unlike_note is None else (unlike_note.note,)),
        ),
    )


def with_classes_of(model: Model, data: Manifest) -> tuple[Manifest, tuple[str, ...]]:
    """The data with its labels counted as the model counts them; and a note where it lacks classes of the model."""
    if data.classes == model.classes:
        return data, ()
    positions = {name: position for position, name in enumerate(model.classes)}
    places = [positions.get(name, -1) for name in data.classes]
    if -1 in places or places != sorted(places):
        raise InputError(
            "The classes of the data must be those of the model, in the same order: the model has "
            f"{shown_order(model.classes)}, the data {shown_order(data.classes)}."
        )
    labels = np.array(places, dtype=np.int64)[data.labels]
    note = f"the data has {len(data.classes)} of the model's {len(model.classes)} classes"
    return replace(data, labels=labels, classes=model.classes, true_log_probs=None), (note,)


def _trained_on(model: Model, items: Items) -> npt.NDArray[np.bool_]:
    if not model.trained_items:  # the images need not be read once more
        return np.zeros(len(items), dtype=np.bool_)
    return np.array([short(digest) in model.trained_items for digest in item_digests(items)], dtype=np.bool_)


def _frequency_notes(
    model: Model, data: Manifest, log_probs: torch.Tensor, labels: torch.Tensor, *, one_peaked: float
) -> tuple[str, ...]:
    gap = frequency_gap(log_probs, labels, num_groups=None if data.groups is None else len(set(data.groups)))
    if gap is None:
        return ()
    label, probability, share = gap
    note = frequency_note(
        model.classes[label],
        probability,
        share,
        part="these data",
        weighted=model.description.balanced or model.description.class_weight is not None,
        one_peaked=one_peaked,
        reason="these data may have other class frequencies than the training data",
    )
    return (note,)


def _predict_images(
    model: Model, items: ImageFiles | ImageArrays, batch_size: int | None, *, skip_bad: bool
) -> tuple[Prediction, list[int], tuple[Row, ...]]:
    """What the model says of the images that can be read, raw, their positions, and the rows of the others."""
    images: Iterable[AnyImage]
    images = items.pixels if isinstance(items, ImageArrays) else (items.root / path for path in items.paths)
    size = IMAGES_A_BATCH if batch_size is None else batch_size
    rows = list(stream(model, images, batch_size=size, posterior_options=PosteriorOptions(raw=True)))
    good = [place for place, row in enumerate(rows) if row.error is None]
    failed = tuple(row for row in rows if row.error is not None)
    if failed and not (good and skip_bad):
        bad = [BadImage(place, str(row.source), row.error) for place, row in enumerate(rows) if row.error is not None]
        raise UnreadableImagesError(bad, len(rows))
    prediction = Prediction(
        classes=model.classes,
        labels=torch.tensor([rows[place].label for place in good]),
        log_probs=torch.tensor([rows[place].log_probs for place in good]),
        sources=tuple(rows[place].source for place in good),
        source_name="path" if isinstance(items, ImageFiles) else "item",
        unlike=tuple(rows[place].unlike for place in good),
    )
    return prediction, good, failed


def _depth_notes(data: Manifest, model: Model) -> tuple[str, ...]:
    items = data.items
    paths = [items.root / path for path in items.paths] if isinstance(items, ImageFiles) else []
    return depth_notes(paths, model.description.bits, asked=True)


HeldOut: TypeAlias = Literal["valid", "test"]
_TITLES: dict[HeldOut, str] = {"valid": "validation", "test": "test"}


def held_out(data: Manifest, model: Model, folder: Path, part: HeldOut) -> Manifest:
    """Keeps only the items of one part of the model's own split, wherever they are in the data now.

    Items are matched by content and label, so the data may have been moved, sorted or extended since. Of rows equal in
    features and label, as many are kept as the part has; which of them makes no difference to any metric.

    Args:
        data: What the model was trained on, opened again.
        model: The model.
        folder: Its folder, which holds the run's predictions for the part.
        part: "test" for items the model never saw, "valid" for those its epoch and calibration were chosen on.

    Raises:
        InputError: The folder does not record what was in the part, or the data has none of it.
    """
    check_choice("part", part, get_args(HeldOut))
    missing = _recorded(folder, part)
    size, chosen_items = missing.total(), []
    if isinstance(data.items, FeatureRows):
        check_rows(model, data.items)
    digests = item_digests(data.items)
    for place, (digest, label) in enumerate(zip(digests, _labels(data, model), strict=True)):
        if missing[item := (short(digest), label)]:
            missing[item] -= 1
            chosen_items.append(place)
    gone, title = missing.total(), _TITLES[part]
    if not chosen_items:
        raise InputError(
            f"`part` needs the data that the model was trained on, got data with none of the "
            f"{counted(size, 'item')} of its {title} part: leave it out to measure on all items."
        )
    notes = [f"only the {title} part of the model's training: {len(chosen_items):,} of {counted(len(data), 'item')}"]
    if gone:
        notes.append(f"{gone:,} of the {counted(size, 'item')} of the {title} part are no longer in the data")
    if part == "valid":
        notes.append("the model's epoch and calibration were chosen on the validation part: its figures flatter it")
    items = replace(data.items, digests=digests) if isinstance(data.items, ImageFiles) else data.items
    chosen = replace(data, items=items).take(chosen_items)  # keeps the hashes, so that no file is read again
    return replace(chosen, notes=(*chosen.notes, *notes))


def _recorded(folder: Path, part: HeldOut) -> Counter[tuple[str, int]]:
    """Counts how often each content and label is in the part."""
    why = f"`part` needs to know what was held out when the model was trained, which {folder}"
    if not (folder / PREDICTIONS).is_file():
        raise InputError(f"{why} does not say without {PREDICTIONS}: copy the folder of the training whole.")
    rows = read_predictions(folder, columns=["part", "label"])
    items = load_held_out_items(folder)
    if len(items) != len(rows["part"]):
        raise InputError(
            f"{why} does not say without its own {HELD_OUT_ITEMS}: copy the folder of the training whole, or train "
            "again if an earlier version wrote it."
        )
    text = zip(rows["part"].tolist(), items, rows["label"].tolist(), strict=True)
    return Counter((item, label) for name, item, label in text if name == part)


def _labels(data: Manifest, model: Model) -> list[int]:
    labels: list[int] = with_classes_of(model, data)[0].labels.tolist()
    return labels
