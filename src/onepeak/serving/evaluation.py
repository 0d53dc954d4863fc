"""How good a trained model is on data it is shown now."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from onepeak._core.wording import counted
from onepeak.data.images.store.failures import BadImage, UnreadableImagesError
from onepeak.data.manifest import FeatureRows, ImageArrays, Manifest
from onepeak.data.splits.copies import item_digests
from onepeak.errors import InputError
from onepeak.metrics.catalog import NAMES
from onepeak.metrics.functional import confusion_matrix
from onepeak.posterior import covers, is_paradoxical, sizes
from onepeak.posterior.predictions import Combine, Predictions, Row, SourceName
from onepeak.posterior.shape import NOTICEABLE
from onepeak.serving.confidence import Confidence, confidence_of
from onepeak.serving.evaluation_data import check_kind, check_rows, with_classes_of
from onepeak.serving.images import AnyImage
from onepeak.serving.model import Model
from onepeak.serving.predict import check_combine, group_notes, notes_of, predict_all
from onepeak.serving.table_rows import TableRows, unlike_rows
from onepeak.training.calibration import figures_of, frequency_gap, frequency_note
from onepeak.training.evaluate import figures_by, measure, measure_against
from onepeak.training.model_files import short


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
    noticeably_paradoxical: float
    """The same where the second class has a probability of at least 5 %."""
    class_counts: tuple[int, ...]
    """How many items of each class were measured."""
    prediction: Predictions
    """What the model says of them, as `Model.predict` does; one prediction per group if they were combined."""
    labels: torch.Tensor
    """Their true labels."""
    trained_on: npt.NDArray[np.bool_]
    """Whether the model was trained on each of them, byte for byte (of a table: on a row with the same features); of a
    group, on any of its samples."""
    label_distribution: dict[str, Any] | None = None
    """How good the model is against several raters or label probabilities, see
    `onepeak.training.evaluate.measure_against`; None for one label per sample, and for groups."""
    confidence: Confidence | None = None
    """How far the figures may be off because few items were measured; None if that was not asked for."""
    subgroups: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    """Number of samples, accuracy and MAE by the values of each column of subgroups."""
    failed: tuple[Row, ...] = ()
    """The images that could not be read and were left out, with their errors."""
    notes: tuple[str, ...] = ()
    """What was done on the user's behalf, to be shown."""

    @property
    def confusion(self) -> list[list[int]]:
        """How many items of each class (row) were given each label (column)."""
        table = confusion_matrix(self.prediction.predicted_index, self.labels, num_classes=len(self.class_counts))
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
    def unit(self) -> Literal["sample", "group"]:
        """What is counted."""
        return "group" if self.prediction.source_name == "group" else "sample"

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
    combine: Combine | None = None,
    confidence: bool = False,
) -> Evaluation:
    """Measures a model on a data set, all of it.

    Args:
        model: The model.
        data: Its classes must be the model's; classes without an item may be left out. Rows of a table must have the
            model's columns and codes, as `onepeak.serving.evaluation_data.open_for` reads them.
        batch_size: The most samples computed at once, as for `Model.predict`.
        skip_bad: Whether to leave out images that cannot be read.
        alpha: The share of items whose interval may miss the true label.
        decide: How labels follow from the calibrated posteriors.
        cost: What each mistake costs; the mean cost is then measured too.
        project: Whether to measure the nearest posteriors that have one peak.
        combine: "worst", "mean" or "median" to measure one prediction per group, such as a patient with several images;
            see `Predictions.combined`, also for the true class of a group.
        confidence: Whether to find confidence intervals of the figures too, in at most about five seconds.

    Raises:
        UnreadableImagesError: Some images cannot be read; the message lists them.
    """
    options = model.posterior_options(alpha=alpha, decide=decide, cost=cost, project=project)
    check_kind(model, images=not isinstance(data.items, FeatureRows))
    if combine is not None:
        check_combine(combine, options)
        if data.groups is None:
            raise InputError(
                "`combine` needs the group of every sample, got data without: name their column with `group`."
            )
    data, notes = with_classes_of(model, data)
    samples, source_name = _samples(model, data)
    raw, failed = predict_all(model, samples, batch_size=batch_size, on_failure="collect")
    if failed and not (len(raw) and skip_bad):
        raise UnreadableImagesError(
            [BadImage(each.item, str(each.source), str(each.error)) for each in failed], len(data)
        )
    data = data.take(raw.items) if failed else data
    labels = torch.from_numpy(data.labels.copy())
    raw, groups, trained_on = replace(raw, truth=labels, source_name=source_name), data.groups, _trained_on(model, data)
    prediction = of_samples = model.read(raw, options)
    measured = replace(
        prediction, log_probs=options.projected(raw.log_probs, raw.predicted_index, model.description.calibration)
    )
    if combine is not None and groups is not None:
        prediction = model.read_groups(raw, groups, combine, options)
        measured = replace(measured.combined(groups, combine), predicted_index=prediction.predicted_index)
        seen = {group for group, known in zip(groups, trained_on, strict=True) if known}
        groups, labels = tuple(map(str, prediction.sources)), prediction.truth
        trained_on = np.array([group in seen for group in groups], dtype=np.bool_)
        many = counted(len(data), "sample")
        notes += (f"the {combine} of {many} in {counted(len(groups), 'group')}, figures are of groups",)
        notes += group_notes(model, combine, options)
    metrics = measure(measured, names=NAMES)
    costs = None if options.cost is None else torch.tensor(options.cost)[labels, prediction.predicted_index]
    sure = None
    if confidence:
        trained_groups = model.description.group
        sure = confidence_of(measured, prediction, costs=costs, groups=groups, trained_groups=trained_groups)
    return Evaluation(
        metrics=metrics,
        calibrated=figures_of(prediction.log_probs, labels, prediction.intervals, prediction.alpha),
        cost=None if costs is None else float(costs.mean()),
        paradoxical=float(prediction.paradoxical.double().mean()),
        noticeably_paradoxical=float(is_paradoxical(prediction.log_probs, at_least=NOTICEABLE).double().mean()),
        class_counts=tuple(labels.bincount(minlength=len(model.classes)).tolist()),
        prediction=prediction,
        labels=labels,
        trained_on=trained_on,
        label_distribution=None
        if data.distribution is None or combine is not None
        else measure_against(measured, data.distribution),
        confidence=sure,
        subgroups={name: figures_by(of_samples, values) for name, values in data.subgroups.items()},
        failed=tuple(each.row for each in failed),
        notes=(
            *data.notes,
            *notes,
            *notes_of(model, samples, options, prediction.with_unlike, source_name=prediction.source_name),
            *_coverage_notes(prediction, labels, groups),
            *_constant_notes(prediction, labels, model.classes),
            *_frequency_notes(model, groups, prediction.log_probs, labels, one_peaked=metrics["unimodal"]),
            *(() if sure is None else (sure.note,)),
        ),
    )


def _trained_on(model: Model, data: Manifest) -> npt.NDArray[np.bool_]:
    if not model.trained_items:  # the images need not be read once more
        return np.zeros(len(data), dtype=np.bool_)
    return np.array([short(digest) in model.trained_items for digest in item_digests(data.items)], dtype=np.bool_)


def _coverage_notes(found: Predictions, labels: torch.Tensor, groups: Sequence[str] | None) -> tuple[str, ...]:
    """A note where intervals hold the true class less often than asked, by more than chance."""
    if found.intervals is None or found.alpha is None or not len(labels):
        return ()
    count = len(labels) if groups is None else len(set(groups))
    covered = float(covers(found.intervals, labels).double().mean())
    if covered >= 1 - found.alpha - 2 * (found.alpha * (1 - found.alpha) / count) ** 0.5:
        return ()
    units = "groups" if found.source_name == "group" else "samples"
    return (
        f"intervals hold the true class in {covered:.1%} of {units}, where {1 - found.alpha:.1%} was asked: these data "
        "differ from those that the model was calibrated on, so do not rely on its intervals",
    )


def _constant_notes(found: Predictions, labels: torch.Tensor, classes: tuple[str, ...]) -> tuple[str, ...]:
    """A note where always giving the same class is as good."""
    counts = labels.bincount(minlength=len(classes))
    most, middle = int(counts.argmax()), int(labels.median())
    accuracy, error = found.predicted_index.eq(labels).double().mean(), (found.predicted_index - labels).abs().double()
    notes = []
    if accuracy <= (share := counts[most] / len(labels)):
        notes.append(f"accuracy {accuracy:.3f} is no better than always giving {classes[most]!r}, {share:.3f}")
    if error.mean() >= (constant := (labels - middle).abs().double().mean()):
        notes.append(f"MAE {error.mean():.3f} is no better than always giving {classes[middle]!r}, {constant:.3f}")
    return tuple(notes)


def _frequency_notes(
    model: Model, groups: Sequence[str] | None, log_probs: torch.Tensor, labels: torch.Tensor, *, one_peaked: float
) -> tuple[str, ...]:
    gap = frequency_gap(log_probs, labels, num_groups=None if groups is None else len(set(groups)))
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


def _samples(model: Model, data: Manifest) -> tuple[Sequence[AnyImage] | TableRows, SourceName]:
    match data.items:
        case FeatureRows() as rows:
            check_rows(model, rows)
            assert model.description.table is not None
            names = tuple(map(str, data.rows)) if data.rows else tuple(range(len(data)))
            unlike = unlike_rows(rows, model.description.table)
            return TableRows(rows=rows, sources=names, source_name="row", unlike=unlike), "row"
        case ImageArrays() as images:
            return list(images.pixels), "item"
        case files:
            return [files.root / path for path in files.paths], "path"
