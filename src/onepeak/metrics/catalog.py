"""Every metric by its key: what it is, which way is better, between which values it lies."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from onepeak import metrics
from onepeak._check import check_num_classes
from onepeak._registry import Registry
from onepeak.metrics.functional.order import side_order_chance

if TYPE_CHECKING:  # the records can be read without the seconds that importing torchmetrics takes
    import torchmetrics


@dataclass(frozen=True, kw_only=True)
class MetricRecord:
    """What is known about one metric."""

    name: str
    """The key of the metric in results and tables."""
    title: str
    higher_is_better: bool
    low: float
    """The lowest value there can be."""
    high: float | None
    """The highest value there can be; none where it is num_classes - 1, the length of the scale. See `range`."""
    needs: Literal["labels", "log_probs"]
    """Whether true and predicted labels are enough, or the posterior is needed."""
    make: Callable[[int], "torchmetrics.Metric"] = field(repr=False)
    """Makes the metric for a number of classes."""
    chance: Callable[[int], float] | None = field(default=None, repr=False)
    """What guessing reaches for a number of classes, where that is known and not the low end."""

    def range(self, num_classes: int) -> tuple[float, float]:
        """The lowest and the highest value there can be, for so many classes.

        Example:
            >>> METRICS["mae"].range(70)
            (0.0, 69.0)
        """
        check_num_classes(num_classes)
        return self.low, float(num_classes - 1) if self.high is None else self.high

    def best(self, num_classes: int) -> float:
        """The best value there can be, for so many classes."""
        return self.range(num_classes)[self.higher_is_better]


METRICS: Registry[MetricRecord] = Registry(
    "metric",
    [
        MetricRecord(
            name="mae",
            title="Mean absolute error",
            higher_is_better=False,
            low=0.0,
            high=None,
            needs="labels",
            make=lambda c: metrics.MeanAbsoluteError(num_classes=c),
        ),
        MetricRecord(
            name="soi_predicted",
            title="Side order index to the prediction",
            higher_is_better=True,
            low=0.0,
            high=1.0,
            needs="log_probs",
            make=lambda c: metrics.SideOrderIndex(num_classes=c, reference="predicted"),
            chance=lambda c: side_order_chance(c, reference="predicted"),
        ),
        MetricRecord(
            name="soi_true",
            title="Side order index to the truth",
            higher_is_better=True,
            low=0.0,
            high=1.0,
            needs="log_probs",
            make=lambda c: metrics.SideOrderIndex(num_classes=c, reference="true"),
            chance=lambda c: side_order_chance(c, reference="true"),
        ),
        MetricRecord(
            name="accuracy",
            title="Accuracy",
            higher_is_better=True,
            low=0.0,
            high=1.0,
            needs="labels",
            make=lambda c: metrics.Accuracy(num_classes=c),
        ),
        MetricRecord(
            name="accuracy_within_1",
            title="Accuracy within one class",
            higher_is_better=True,
            low=0.0,
            high=1.0,
            needs="labels",
            make=lambda c: metrics.AccuracyWithin(num_classes=c, k=1),
        ),
        MetricRecord(
            name="amae",
            title="Mean absolute error, averaged over classes",
            higher_is_better=False,
            low=0.0,
            high=None,
            needs="labels",
            make=lambda c: metrics.AverageMeanAbsoluteError(num_classes=c),
        ),
        MetricRecord(
            name="mmae",
            title="Mean absolute error of the worst class",
            higher_is_better=False,
            low=0.0,
            high=None,
            needs="labels",
            make=lambda c: metrics.MaximumMeanAbsoluteError(num_classes=c),
        ),
        MetricRecord(
            name="qwk",
            title="Quadratic weighted kappa",
            higher_is_better=True,
            low=-1.0,
            high=1.0,
            needs="labels",
            make=lambda c: metrics.QuadraticWeightedKappa(num_classes=c),
        ),
        MetricRecord(
            name="tau",
            title="Kendall's tau-b",
            higher_is_better=True,
            low=-1.0,
            high=1.0,
            needs="labels",
            make=lambda c: metrics.KendallTau(num_classes=c),
        ),
        MetricRecord(
            name="spearman",
            title="Spearman's rank correlation",
            higher_is_better=True,
            low=-1.0,
            high=1.0,
            needs="labels",
            make=lambda c: metrics.SpearmanCorrelation(num_classes=c),
        ),
        MetricRecord(
            name="rps",
            title="Ranked probability score",
            higher_is_better=False,
            low=0.0,
            high=None,
            needs="log_probs",
            make=lambda c: metrics.RankedProbabilityScore(num_classes=c),
        ),
        MetricRecord(
            name="nll",
            title="Negative log-likelihood",
            higher_is_better=False,
            low=0.0,
            high=math.inf,
            needs="log_probs",
            make=lambda c: metrics.NegativeLogLikelihood(num_classes=c),
        ),
        MetricRecord(
            name="ece",
            title="Expected calibration error",
            higher_is_better=False,
            low=0.0,
            high=1.0,
            needs="log_probs",
            make=lambda c: metrics.ExpectedCalibrationError(num_classes=c),
        ),
        MetricRecord(
            name="unimodal",
            title="Share of posteriors with one peak",
            higher_is_better=True,
            low=0.0,
            high=1.0,
            needs="log_probs",
            make=lambda c: metrics.UnimodalRate(num_classes=c),
        ),
        MetricRecord(
            name="violations",
            title="Pairs out of order to the prediction",
            higher_is_better=False,
            low=0.0,
            high=None,
            needs="log_probs",
            make=lambda c: metrics.NumViolations(num_classes=c),
        ),
        MetricRecord(
            name="violation_size",
            title="Probability out of order to the prediction",
            higher_is_better=False,
            low=0.0,
            high=1.0,
            needs="log_probs",
            make=lambda c: metrics.ViolationSize(num_classes=c),
        ),
    ],
)
"""All metrics, in the order in which results show them."""


def collection(num_classes: int, *, names: Iterable[str] | None = None) -> "torchmetrics.MetricCollection":
    """The metrics as one: fed in one call, computed to a dictionary by key.

    The metrics on labels share one table, which is counted once a batch.

    Args:
        num_classes: The number of classes, those that may never occur included.
        names: The keys of the metrics wanted; all of them where none are given.

    Example:
        >>> import torch
        >>> chosen = collection(3, names=["mae", "soi_predicted"])
        >>> chosen.update(torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]]).log(), torch.tensor([1, 1]))
        >>> {name: value.item() for name, value in chosen.compute().items()}
        {'mae': 0.5, 'soi_predicted': 0.75}
    """
    import torchmetrics

    check_num_classes(num_classes)
    records = [METRICS[name] for name in names] if names is not None else list(METRICS)
    on_labels = [record.name for record in records if record.needs == "labels"]
    return torchmetrics.MetricCollection(
        {record.name: record.make(num_classes) for record in records},
        # Named here, because torchmetrics would guess by comparing states after the first batch.
        compute_groups=[on_labels] if on_labels else False,
    )
