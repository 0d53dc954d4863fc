"""How far the figures of an evaluation may be off because few items or patients were measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from torch import Tensor

from onepeak._core.wording import counted
from onepeak.metrics.bootstrap import FEWEST, Interval, confidence_intervals
from onepeak.metrics.catalog import NAMES, collection
from onepeak.posterior import covers, sizes
from onepeak.posterior.predictions import Predictions

LEVEL = 0.95
WITHOUT_INTERVAL = (
    "ece",
    "mmae",
    "min_sensitivity",
    "extreme_sensitivity",
    "extreme_geometric_sensitivity",
    "uoc",
)
"""Metrics whose resamples mislead or cost too much. The calibration error and the worst class look worse in a resample
than in the data, and the first or the last class may have a handful of items. A slow test counts how often 95 %
intervals of 48 items hold the true value: in order, in fewer than 45, 80, 75, 90 and 92 % of cases. The uniform index
takes minutes for 70 classes."""
_MOST_RESAMPLES = 1000
_FEWEST_RESAMPLES = 100
_MOST_NUMBERS = 50_000_000
"""About five seconds on one core."""
_NUMBERS_AT_ONCE = 2_500_000
_LIMIT = "the most are about 300,000 samples of 5 classes, 100,000 of 70 or 5,000 of 480"


@dataclass(frozen=True, kw_only=True)
class Confidence:
    """A 95 % confidence interval for each figure of an `Evaluation`; None where there is none.

    They say how far a figure would vary if this model were measured on other items of the same kind, not how far
    another training would.
    """

    unit: Literal["group", "item"]
    """What was resampled: groups such as patients, if the data name them."""
    num_units: int
    num_resamples: int
    """0 if there are too few units, or too many items or classes."""
    note: str
    """What was resampled, or why nothing was."""
    metrics: dict[str, Interval | None]
    """By the name of the metric, all of them."""
    calibrated: dict[str, Interval | None]
    """Of nll, rps and, if there are intervals of labels, of their coverage and interval_size."""
    cost: Interval | None
    paradoxical: Interval | None


def confidence_of(
    measured: Predictions,
    prediction: Predictions,
    *,
    costs: Tensor | None,
    groups: Sequence[str] | None,
    trained_groups: str | None = None,
) -> Confidence:
    """Resamples groups, or items if there are none: about five seconds at most on one core."""
    count, num_classes = measured.log_probs.shape
    # Made once: collections are freed late, and their tables of many classes are large.
    metrics = collection(num_classes, names=[name for name in NAMES if name not in WITHOUT_INTERVAL])
    calibrated = collection(num_classes, names=("nll", "rps"))
    means = {"paradoxical": prediction.paradoxical}
    if costs is not None:
        means["cost"] = costs
    if prediction.intervals is not None:
        means["coverage"] = covers(prediction.intervals, measured.truth)
        means["interval_size"] = sizes(prediction.intervals)

    def of_metrics(weights: Tensor) -> dict[str, Tensor]:
        metrics.reset()
        metrics.update(measured.log_probs, measured.truth, measured.predicted_index, sample_weight=weights)
        return dict(metrics.compute())

    def as_predicted(weights: Tensor) -> dict[str, Tensor]:
        calibrated.reset()
        calibrated.update(prediction.log_probs, measured.truth, sample_weight=weights)
        figures = {name: (weights * values.double()).sum() / weights.sum() for name, values in means.items()}
        return {**calibrated.compute(), **figures}

    units = np.arange(count) if groups is None else np.unique(groups, return_inverse=True)[1]
    num_units, num_resamples, at_once = len(np.unique(units)), *_resamples(count, num_classes)
    unit: Literal["group", "item"] = "item" if groups is None else "group"
    name = "sample" if groups is None else "group"
    ours: dict[str, Interval | None] = {}
    calibrated_intervals: dict[str, Interval | None] = dict.fromkeys(("nll", "rps", *means))
    if num_units < FEWEST:
        num_resamples = 0
        note = f"no 95 % confidence intervals: {counted(num_units, name)}, and {FEWEST} are needed"
    elif not num_resamples:
        size = f"{counted(count, 'sample')} of {num_classes:,} classes"
        note = f"no 95 % confidence intervals: {size} take too long to resample ({_LIMIT})"
    else:
        ours, calibrated_intervals = (
            confidence_intervals(figures, units, num_resamples=num_resamples, level=LEVEL, at_once=at_once)
            for figures in (of_metrics, as_predicted)
        )
        note = f"95 % confidence intervals: {counted(num_resamples, 'resample')} of {counted(num_units, name)}"
        if groups is None and trained_groups is not None:
            note += (
                f"; too short if several are of one patient: name groups with --group ({trained_groups!r} in training)"
            )
    cost, paradoxical = calibrated_intervals.pop("cost", None), calibrated_intervals.pop("paradoxical")
    return Confidence(
        unit=unit,
        num_units=num_units,
        num_resamples=num_resamples,
        note=note,
        metrics={name: ours.get(name) for name in NAMES},
        calibrated=calibrated_intervals,
        cost=cost,
        paradoxical=paradoxical,
    )


def _resamples(count: int, num_classes: int) -> tuple[int, int]:
    """How many resamples are drawn in all, 0 if too few could be, and how many together."""
    numbers = max(count, num_classes**2)  # a metric on labels counts all pairs of classes in every resample
    at_once = max(1, _NUMBERS_AT_ONCE // numbers)
    # What does not depend on the resample is computed once for all that are drawn together.
    work = count + num_classes**2 + count * num_classes // at_once
    affordable = _MOST_NUMBERS // work
    return (min(_MOST_RESAMPLES, affordable) if affordable >= _FEWEST_RESAMPLES else 0), at_once
