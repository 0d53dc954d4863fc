"""The catalog of metrics: a record of each, and several of them as one."""

import importlib
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from torch import Tensor

from onepeak._core.check import check_num_classes
from onepeak._core.registry import Registry, first_citation
from onepeak.metrics import functional
from onepeak.metrics.functional.side_order_index import Reference, side_order_chance

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
    default: bool = False
    """Whether it is measured by default, for example after every training epoch."""
    reference: str = ""
    """Who defined it; the citation of the class's function by default, empty if no source is needed."""
    chance: Callable[[int, str], float] | None = field(default=None, repr=False)
    """The value that random guessing reaches for a number of classes and a decision, if it is known and not `low`."""

    def __post_init__(self) -> None:
        if not self.reference and self._function is not None:
            object.__setattr__(self, "reference", first_citation(self._function))

    @property
    def _function(self) -> Callable[..., Tensor] | None:
        """The pure function with the name of the class, if there is one."""
        return getattr(functional, re.sub(r"(?<!^)([A-Z])", r"_\1", self.class_name).lower(), None)

    @property
    def needs(self) -> Literal["labels", "log_probs"]:
        """Whether the metric needs only true and predicted labels, or the posterior."""
        arguments = inspect.signature(self._function).parameters if self._function else ()
        return "labels" if "predicted" in arguments else "log_probs"

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


def _soi(reference: Reference) -> MetricRecord:
    return MetricRecord(
        f"soi_{reference}",
        f"Side order index to the {'prediction' if reference == 'predicted' else 'truth'}",
        "SideOrderIndex",
        settings={"reference": reference},
        default=True,
        chance=lambda c, decision: side_order_chance(c, reference=reference, decision=decision),
    )


_score = MetricRecord
_kappa = partial(MetricRecord, low=-1.0)  # and correlations
_error = partial(MetricRecord, higher_is_better=False)
_distance = partial(_error, high=None)  # in classes

METRICS = Registry(
    "metric",
    [
        _distance("mae", "Mean absolute error", "MeanAbsoluteError", default=True),
        _distance("mae_median", "Mean absolute error by the median", "MeanAbsoluteErrorOfMedian", default=True),
        _soi("predicted"),
        _soi("true"),
        _score("accuracy", "Accuracy", "Accuracy", default=True),
        _score("accuracy_within_1", "Accuracy within one class", "AccuracyWithin", settings={"k": 1}, default=True),
        _distance("amae", "Mean absolute error, averaged over classes", "AverageMeanAbsoluteError", default=True),
        _distance("mmae", "Mean absolute error of the worst class", "MaximumMeanAbsoluteError", default=True),
        _kappa("qwk", "Quadratic weighted kappa", "QuadraticWeightedKappa", default=True),
        _kappa("tau", "Kendall's tau-b", "KendallTau", default=True),
        _kappa("spearman", "Spearman's rank correlation", "SpearmanCorrelation", default=True),
        _distance("rps", "Ranked probability score", "RankedProbabilityScore", default=True),
        _error("nll", "Negative log-likelihood", "NegativeLogLikelihood", high=math.inf, default=True),
        _error("ece", "Expected calibration error", "ExpectedCalibrationError", default=True),
        _score(
            "unimodal",
            "Share of posteriors with one peak",
            "UnimodalRate",
            default=True,
            reference="Belharbi et al. 2019, Non-parametric uni-modality constraints for deep ordinal classification",
        ),
        _distance("violations", "Pairs out of order to the prediction", "NumViolations", default=True),
        _error("violation_size", "Probability out of order to the prediction", "ViolationSize", default=True),
        _distance("rmse", "Root mean squared error", "RootMeanSquaredError"),
        _score("balanced_accuracy", "Balanced accuracy: mean of the sensitivities", "BalancedAccuracy"),
        _score("geometric_sensitivity", "Geometric mean of the sensitivities", "GeometricMeanSensitivity"),
        _score("min_sensitivity", "Sensitivity of the worst class", "MinimumSensitivity"),
        _score("extreme_sensitivity", "Mean sensitivity of the first and the last class", "ExtremeSensitivity"),
        _score(
            "extreme_geometric_sensitivity",
            "Geometric mean sensitivity of the first and the last class",
            "ExtremeSensitivity",
            settings={"average": "geometric"},
        ),
        _score("iba", "Index of balanced accuracy", "IndexOfBalancedAccuracy"),
        _kappa(
            "kappa",
            "Cohen's kappa",
            "WeightedKappa",
            settings={"weighting": "none"},
            reference="Cohen 1960, A coefficient of agreement for nominal scales",
        ),
        _kappa("lwk", "Linear weighted kappa", "WeightedKappa", settings={"weighting": "linear"}),
        _score("cem", "Closeness evaluation measure", "ClosenessEvaluationMeasure"),
        _error("oci", "Ordinal classification index", "OrdinalClassificationIndex"),
        _error("uoc", "Uniform ordinal classification index", "UniformOrdinalClassificationIndex"),
        _distance("emd", "Earth mover's distance to the truth: expected absolute error", "EarthMoverDistance"),
        _error("sce", "Static calibration error: of every class", "StaticCalibrationError"),
        _score(
            "unimodal_weak",
            "Share of posteriors with one peak, ties allowed",
            "UnimodalRate",
            settings={"definition": "weak"},
        ),
        _score(
            "unimodal_quasi",
            "Share of posteriors in order around their mode",
            "UnimodalRate",
            settings={"definition": "quasi"},
            reference="Albuquerque, Cruz, Cardoso 2022, Quasi-unimodal distributions for ordinal classification",
        ),
        _score(
            "unimodal_two_decimals",
            "Share of posteriors with one peak in rounded differences",
            "UnimodalRate",
            settings={"definition": "rounded_to_two_decimals"},
            reference="Cardoso, Cruz, Albuquerque 2023, Unimodal distributions for ordinal regression",
        ),
        *(
            _score(
                f"accuracy_within_{k}",
                f"Cumulative score at {k}: accuracy within {k} classes",
                "AccuracyWithin",
                settings={"k": k},
            )
            for k in (3, 5)
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
