"""The catalog of metrics: a record of each, and several of them as one."""

import importlib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from onepeak._core.check import check_num_classes
from onepeak._core.registry import Registry, first_citation
from onepeak.metrics import functional
from onepeak.metrics.functional.side_order_index import side_order_chance

if TYPE_CHECKING:
    import torchmetrics

__all__ = ["DEFAULT_NAMES", "METRICS", "NAMES", "MetricRecord", "collection"]


@dataclass(frozen=True)
class MetricRecord:
    """Name, range, direction and source of one metric, and its class."""

    name: str
    """The key of the metric in results and tables."""
    title: str
    class_name: str = field(repr=False)
    """The class in `onepeak.metrics`, imported with the first use: torchmetrics takes seconds."""
    _: KW_ONLY
    settings: Mapping[str, object] = field(default_factory=dict, repr=False)
    """Arguments of the class beside the number of classes."""
    higher_is_better: bool = True
    low: float = 0.0
    """The lowest possible value."""
    high: float | None = 1.0
    """The highest possible value; None if it is num_classes - 1, the length of the scale. See `range`."""
    needs: Literal["labels", "log_probs"] = "labels"
    """Whether the metric needs only true and predicted labels, or the posterior."""
    default: bool = False
    """Whether it is measured by default, for example after every training epoch."""
    reference: str = ""
    """Who defined it; the citation of the class's function by default, empty if no source is needed."""
    chance: Callable[[int, str], float] | None = field(default=None, repr=False)
    """The value that random guessing reaches for a number of classes and a decision, if it is known and not `low`."""

    def __post_init__(self) -> None:
        function = getattr(functional, re.sub(r"(?<!^)([A-Z])", r"_\1", self.class_name).lower(), None)
        if not self.reference and function is not None:
            object.__setattr__(self, "reference", first_citation(function))

    def make(self, num_classes: int) -> "torchmetrics.Metric":
        """Makes the metric for a number of classes."""
        metric_class = getattr(importlib.import_module("onepeak.metrics"), self.class_name)
        metric: torchmetrics.Metric = metric_class(num_classes, **self.settings)
        return metric

    def range(self, num_classes: int) -> tuple[float, float]:
        """Returns the lowest and the highest possible value for a number of classes."""
        check_num_classes(num_classes)
        return self.low, float(num_classes - 1) if self.high is None else self.high

    def best(self, num_classes: int) -> float:
        """Returns the best possible value for a number of classes."""
        return self.range(num_classes)[self.higher_is_better]


_BELHARBI = "Belharbi et al. 2019, Non-parametric uni-modality constraints for deep ordinal classification"

_error = partial(MetricRecord, higher_is_better=False)
_distance = partial(_error, high=None)  # in classes

METRICS = Registry(
    "metric",
    [
        _distance("mae", "Mean absolute error", "MeanAbsoluteError", default=True),
        _distance(
            "mae_median",
            "Mean absolute error by the median",
            "MeanAbsoluteErrorOfMedian",
            needs="log_probs",
            default=True,
        ),
        MetricRecord(
            "soi_predicted",
            "Side order index to the prediction",
            "SideOrderIndex",
            settings={"reference": "predicted"},
            needs="log_probs",
            default=True,
            chance=lambda c, decision: side_order_chance(c, reference="predicted", decision=decision),
        ),
        MetricRecord(
            "soi_true",
            "Side order index to the truth",
            "SideOrderIndex",
            settings={"reference": "true"},
            needs="log_probs",
            default=True,
            chance=lambda c, decision: side_order_chance(c, reference="true", decision=decision),
        ),
        MetricRecord("accuracy", "Accuracy", "Accuracy", default=True),
        MetricRecord(
            "accuracy_within_1", "Accuracy within one class", "AccuracyWithin", settings={"k": 1}, default=True
        ),
        _distance("amae", "Mean absolute error, averaged over classes", "AverageMeanAbsoluteError", default=True),
        _distance("mmae", "Mean absolute error of the worst class", "MaximumMeanAbsoluteError", default=True),
        MetricRecord("qwk", "Quadratic weighted kappa", "QuadraticWeightedKappa", low=-1.0, default=True),
        MetricRecord("tau", "Kendall's tau-b", "KendallTau", low=-1.0, default=True),
        MetricRecord("spearman", "Spearman's rank correlation", "SpearmanCorrelation", low=-1.0, default=True),
        _distance("rps", "Ranked probability score", "RankedProbabilityScore", needs="log_probs", default=True),
        _error(
            "nll", "Negative log-likelihood", "NegativeLogLikelihood", high=math.inf, needs="log_probs", default=True
        ),
        _error("ece", "Expected calibration error", "ExpectedCalibrationError", needs="log_probs", default=True),
        MetricRecord(
            "unimodal",
            "Share of posteriors with one peak",
            "UnimodalRate",
            needs="log_probs",
            default=True,
            reference=_BELHARBI,
        ),
        _distance(
            "violations", "Pairs out of order to the prediction", "NumViolations", needs="log_probs", default=True
        ),
        _error(
            "violation_size",
            "Probability out of order to the prediction",
            "ViolationSize",
            needs="log_probs",
            default=True,
        ),
        _distance("rmse", "Root mean squared error", "RootMeanSquaredError"),
        MetricRecord("balanced_accuracy", "Balanced accuracy: mean of the sensitivities", "BalancedAccuracy"),
        MetricRecord("geometric_sensitivity", "Geometric mean of the sensitivities", "GeometricMeanSensitivity"),
        MetricRecord("min_sensitivity", "Sensitivity of the worst class", "MinimumSensitivity"),
        MetricRecord("extreme_sensitivity", "Mean sensitivity of the first and the last class", "ExtremeSensitivity"),
        MetricRecord(
            "extreme_geometric_sensitivity",
            "Geometric mean sensitivity of the first and the last class",
            "ExtremeSensitivity",
            settings={"average": "geometric"},
        ),
        MetricRecord("iba", "Index of balanced accuracy", "IndexOfBalancedAccuracy"),
        MetricRecord(
            "kappa",
            "Cohen's kappa",
            "WeightedKappa",
            settings={"weighting": "none"},
            low=-1.0,
            reference="Cohen 1960, A coefficient of agreement for nominal scales",
        ),
        MetricRecord("lwk", "Linear weighted kappa", "WeightedKappa", settings={"weighting": "linear"}, low=-1.0),
        MetricRecord("cem", "Closeness evaluation measure", "ClosenessEvaluationMeasure"),
        _error("oci", "Ordinal classification index", "OrdinalClassificationIndex"),
        _error("uoc", "Uniform ordinal classification index", "UniformOrdinalClassificationIndex"),
        _distance(
            "emd",
            "Earth mover's distance to the truth: expected absolute error",
            "EarthMoverDistance",
            needs="log_probs",
        ),
        _error("sce", "Static calibration error: of every class", "StaticCalibrationError", needs="log_probs"),
        MetricRecord(
            "unimodal_weak",
            "Share of posteriors with one peak, ties allowed",
            "UnimodalRate",
            settings={"definition": "weak"},
            needs="log_probs",
        ),
        MetricRecord(
            "unimodal_quasi",
            "Share of posteriors in order around their mode",
            "UnimodalRate",
            settings={"definition": "quasi"},
            needs="log_probs",
            reference="Albuquerque, Cruz, Cardoso 2022, Quasi-unimodal distributions for ordinal classification",
        ),
        MetricRecord(
            "unimodal_two_decimals",
            "Share of posteriors with one peak in rounded differences",
            "UnimodalRate",
            settings={"definition": "rounded_to_two_decimals"},
            needs="log_probs",
            reference="Cardoso, Cruz, Albuquerque 2023, Unimodal distributions for ordinal regression",
        ),
        MetricRecord(
            "accuracy_within_3", "Cumulative score at 3: accuracy within 3 classes", "AccuracyWithin", settings={"k": 3}
        ),
        MetricRecord(
            "accuracy_within_5", "Cumulative score at 5: accuracy within 5 classes", "AccuracyWithin", settings={"k": 5}
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
