"""Every metric by its key, with its title, range and direction.

The records stand here and not beside their classes, because importing those takes torchmetrics, and so seconds.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from onepeak import metrics
from onepeak._core.check import check_num_classes
from onepeak._core.registry import Registry
from onepeak.metrics.functional.side_order_index import side_order_chance

if TYPE_CHECKING:
    import torchmetrics

__all__ = ["DEFAULT_NAMES", "METRICS", "NAMES", "MetricRecord", "collection"]


@dataclass(frozen=True, kw_only=True)
class MetricRecord:
    """Name, range, direction and source of one metric, and how to make it."""

    name: str
    """The key of the metric in results and tables."""
    title: str
    higher_is_better: bool
    low: float = 0.0
    """The lowest possible value."""
    high: float | None = 1.0
    """The highest possible value; None if it is num_classes - 1, the length of the scale. See `range`."""
    needs: Literal["labels", "log_probs"]
    """Whether the metric needs only true and predicted labels, or the posterior."""
    default: bool = False
    """Whether it is measured by default, for example after every training epoch."""
    reference: str = ""
    """Who defined it; empty if no source is needed."""
    make: Callable[[int], "torchmetrics.Metric"] = field(repr=False)
    """Makes the metric for a number of classes."""
    chance: Callable[[int, str], float] | None = field(default=None, repr=False)
    """The value that random guessing reaches for a number of classes and a decision, if it is known and not `low`."""

    def range(self, num_classes: int) -> tuple[float, float]:
        """Returns the lowest and the highest possible value for a number of classes.

        Example:
            >>> METRICS["mae"].range(70)
            (0.0, 69.0)
        """
        check_num_classes(num_classes)
        return self.low, float(num_classes - 1) if self.high is None else self.high

    def best(self, num_classes: int) -> float:
        """Returns the best possible value for a number of classes."""
        return self.range(num_classes)[self.higher_is_better]


METRICS = Registry(
    "metric",
    [
        MetricRecord(
            name="mae",
            title="Mean absolute error",
            higher_is_better=False,
            high=None,
            needs="labels",
            default=True,
            make=lambda c: metrics.MeanAbsoluteError(num_classes=c),
        ),
        MetricRecord(
            name="mae_median",
            title="Mean absolute error by the median",
            higher_is_better=False,
            high=None,
            needs="log_probs",
            default=True,
            make=lambda c: metrics.MeanAbsoluteErrorOfMedian(num_classes=c),
        ),
        MetricRecord(
            name="soi_predicted",
            title="Side order index to the prediction",
            higher_is_better=True,
            needs="log_probs",
            default=True,
            reference="Belharbi et al. 2019, Non-parametric uni-modality constraints for deep ordinal classification",
            make=lambda c: metrics.SideOrderIndex(num_classes=c, reference="predicted"),
            chance=lambda c, decision: side_order_chance(c, reference="predicted", decision=decision),
        ),
        MetricRecord(
            name="soi_true",
            title="Side order index to the truth",
            higher_is_better=True,
            needs="log_probs",
            default=True,
            reference="Belharbi et al. 2019, Non-parametric uni-modality constraints for deep ordinal classification",
            make=lambda c: metrics.SideOrderIndex(num_classes=c, reference="true"),
            chance=lambda c, decision: side_order_chance(c, reference="true", decision=decision),
        ),
        MetricRecord(
            name="accuracy",
            title="Accuracy",
            higher_is_better=True,
            needs="labels",
            default=True,
            make=lambda c: metrics.Accuracy(num_classes=c),
        ),
        MetricRecord(
            name="accuracy_within_1",
            title="Accuracy within one class",
            higher_is_better=True,
            needs="labels",
            default=True,
            make=lambda c: metrics.AccuracyWithin(num_classes=c, k=1),
        ),
        MetricRecord(
            name="amae",
            title="Mean absolute error, averaged over classes",
            higher_is_better=False,
            high=None,
            needs="labels",
            default=True,
            reference="Baccianella, Esuli, Sebastiani 2009, Evaluation measures for ordinal regression",
            make=lambda c: metrics.AverageMeanAbsoluteError(num_classes=c),
        ),
        MetricRecord(
            name="mmae",
            title="Mean absolute error of the worst class",
            higher_is_better=False,
            high=None,
            needs="labels",
            default=True,
            reference="Cruz-Ramírez et al. 2014, Metrics to guide a multi-objective evolutionary algorithm",
            make=lambda c: metrics.MaximumMeanAbsoluteError(num_classes=c),
        ),
        MetricRecord(
            name="qwk",
            title="Quadratic weighted kappa",
            higher_is_better=True,
            low=-1.0,
            needs="labels",
            default=True,
            reference="Cohen 1968, Weighted kappa",
            make=lambda c: metrics.QuadraticWeightedKappa(num_classes=c),
        ),
        MetricRecord(
            name="tau",
            title="Kendall's tau-b",
            higher_is_better=True,
            low=-1.0,
            needs="labels",
            default=True,
            reference="Kendall 1945, The treatment of ties in ranking problems",
            make=lambda c: metrics.KendallTau(num_classes=c),
        ),
        MetricRecord(
            name="spearman",
            title="Spearman's rank correlation",
            higher_is_better=True,
            low=-1.0,
            needs="labels",
            default=True,
            reference="Spearman 1904, The proof and measurement of association between two things",
            make=lambda c: metrics.SpearmanCorrelation(num_classes=c),
        ),
        MetricRecord(
            name="rps",
            title="Ranked probability score",
            higher_is_better=False,
            high=None,
            needs="log_probs",
            default=True,
            reference="Epstein 1969, A scoring system for probability forecasts of ranked categories",
            make=lambda c: metrics.RankedProbabilityScore(num_classes=c),
        ),
        MetricRecord(
            name="nll",
            title="Negative log-likelihood",
            higher_is_better=False,
            high=math.inf,
            needs="log_probs",
            default=True,
            make=lambda c: metrics.NegativeLogLikelihood(num_classes=c),
        ),
        MetricRecord(
            name="ece",
            title="Expected calibration error",
            higher_is_better=False,
            needs="log_probs",
            default=True,
            reference="Guo et al. 2017, On calibration of modern neural networks",
            make=lambda c: metrics.ExpectedCalibrationError(num_classes=c),
        ),
        MetricRecord(
            name="unimodal",
            title="Share of posteriors with one peak",
            higher_is_better=True,
            needs="log_probs",
            default=True,
            reference="Belharbi et al. 2019, Non-parametric uni-modality constraints for deep ordinal classification",
            make=lambda c: metrics.UnimodalRate(num_classes=c),
        ),
        MetricRecord(
            name="violations",
            title="Pairs out of order to the prediction",
            higher_is_better=False,
            high=None,
            needs="log_probs",
            default=True,
            make=lambda c: metrics.NumViolations(num_classes=c),
        ),
        MetricRecord(
            name="violation_size",
            title="Probability out of order to the prediction",
            higher_is_better=False,
            needs="log_probs",
            default=True,
            make=lambda c: metrics.ViolationSize(num_classes=c),
        ),
        MetricRecord(
            name="rmse",
            title="Root mean squared error",
            higher_is_better=False,
            high=None,
            needs="labels",
            make=lambda c: metrics.RootMeanSquaredError(num_classes=c),
        ),
        MetricRecord(
            name="balanced_accuracy",
            title="Balanced accuracy: mean of the sensitivities",
            higher_is_better=True,
            needs="labels",
            reference="Brodersen et al. 2010, The balanced accuracy and its posterior distribution",
            make=lambda c: metrics.BalancedAccuracy(num_classes=c),
        ),
        MetricRecord(
            name="geometric_sensitivity",
            title="Geometric mean of the sensitivities",
            higher_is_better=True,
            needs="labels",
            reference="Kubat, Matwin 1997, Addressing the curse of imbalanced training sets",
            make=lambda c: metrics.GeometricMeanSensitivity(num_classes=c),
        ),
        MetricRecord(
            name="min_sensitivity",
            title="Sensitivity of the worst class",
            higher_is_better=True,
            needs="labels",
            reference="Fernández-Caballero et al. 2010, Sensitivity versus accuracy in multiclass problems",
            make=lambda c: metrics.MinimumSensitivity(num_classes=c),
        ),
        MetricRecord(
            name="extreme_sensitivity",
            title="Mean sensitivity of the first and the last class",
            higher_is_better=True,
            needs="labels",
            reference="Vargas et al. 2024, Improving the classification of extreme classes",
            make=lambda c: metrics.ExtremeSensitivity(num_classes=c),
        ),
        MetricRecord(
            name="extreme_geometric_sensitivity",
            title="Geometric mean sensitivity of the first and the last class",
            higher_is_better=True,
            needs="labels",
            reference="Vargas et al. 2024, Improving the classification of extreme classes",
            make=lambda c: metrics.ExtremeSensitivity(num_classes=c, average="geometric"),
        ),
        MetricRecord(
            name="iba",
            title="Index of balanced accuracy",
            higher_is_better=True,
            needs="labels",
            reference="García, Mollineda, Sánchez 2009, Index of balanced accuracy",
            make=lambda c: metrics.IndexOfBalancedAccuracy(num_classes=c),
        ),
        MetricRecord(
            name="kappa",
            title="Cohen's kappa",
            higher_is_better=True,
            low=-1.0,
            needs="labels",
            reference="Cohen 1960, A coefficient of agreement for nominal scales",
            make=lambda c: metrics.WeightedKappa(num_classes=c, weighting="none"),
        ),
        MetricRecord(
            name="lwk",
            title="Linear weighted kappa",
            higher_is_better=True,
            low=-1.0,
            needs="labels",
            reference="Cohen 1968, Weighted kappa",
            make=lambda c: metrics.WeightedKappa(num_classes=c, weighting="linear"),
        ),
        MetricRecord(
            name="oci",
            title="Ordinal classification index",
            higher_is_better=False,
            needs="labels",
            reference="Cardoso, Sousa 2011, Measuring the performance of ordinal classification",
            make=lambda c: metrics.OrdinalClassificationIndex(num_classes=c),
        ),
        MetricRecord(
            name="uoc",
            title="Uniform ordinal classification index",
            higher_is_better=False,
            needs="labels",
            reference="Silva, Pinto, Cardoso 2018, A uniform performance index for ordinal classification",
            make=lambda c: metrics.UniformOrdinalClassificationIndex(num_classes=c),
        ),
        MetricRecord(
            name="emd",
            title="Earth mover's distance to the truth: expected absolute error",
            higher_is_better=False,
            high=None,
            needs="log_probs",
            reference="Rubner, Tomasi, Guibas 2000, The earth mover's distance as a metric for image retrieval",
            make=lambda c: metrics.EarthMoverDistance(num_classes=c),
        ),
        MetricRecord(
            name="unimodal_weak",
            title="Share of posteriors with one peak, ties allowed",
            higher_is_better=True,
            needs="log_probs",
            make=lambda c: metrics.UnimodalRate(num_classes=c, definition="weak"),
        ),
        MetricRecord(
            name="unimodal_quasi",
            title="Share of posteriors in order around their mode",
            higher_is_better=True,
            needs="log_probs",
            reference="Albuquerque, Cruz, Cardoso 2022, Quasi-unimodal distributions for ordinal classification",
            make=lambda c: metrics.UnimodalRate(num_classes=c, definition="quasi"),
        ),
        MetricRecord(
            name="unimodal_two_decimals",
            title="Share of posteriors with one peak in rounded differences",
            higher_is_better=True,
            needs="log_probs",
            reference="Cardoso, Cruz, Albuquerque 2023, Unimodal distributions for ordinal regression",
            make=lambda c: metrics.UnimodalRate(num_classes=c, definition="rounded_to_two_decimals"),
        ),
    ],
)
"""All metrics, in the order in which results show them."""

NAMES = tuple(record.name for record in METRICS)
"""The keys of all metrics."""

DEFAULT_NAMES = tuple(record.name for record in METRICS if record.default)
"""The keys of the metrics that are measured by default."""


def collection(num_classes: int, *, names: Iterable[str] = DEFAULT_NAMES) -> "torchmetrics.MetricCollection":
    """Returns several metrics as one: updated in one call, computed into a dictionary by key.

    Metrics on labels share one confusion matrix, and metrics on adjacent pairs share their counts; each is computed
    once per batch.

    Args:
        num_classes: Number of classes, including any that never occur.
        names: Keys of the metrics; `NAMES` for all.

    Example:
        >>> import torch
        >>> chosen = collection(3, names=["mae", "soi_predicted"])
        >>> chosen.update(torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]]).log(), torch.tensor([1, 1]))
        >>> {name: value.item() for name, value in chosen.compute().items()}
        {'mae': 0.5, 'soi_predicted': 0.75}
    """
    import torchmetrics

    check_num_classes(num_classes)
    chosen = {name: METRICS[name].make(num_classes) for name in names}
    # Compute groups are given here, because torchmetrics would guess them by comparing states after the first batch.
    # The strictest metrics come first, so that nothing of a rejected batch is counted.
    sharing: dict[tuple[str, ...], list[str]] = {}
    for name, metric in sorted(chosen.items(), key=lambda item: not item[1].refuses_scores):
        sharing.setdefault(tuple(metric.metric_state), []).append(name)
    return torchmetrics.MetricCollection({**chosen}, compute_groups=list(sharing.values()) or False)
