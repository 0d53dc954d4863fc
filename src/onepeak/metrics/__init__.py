"""Metrics for ordered classes: `torchmetrics` classes over the pure functions in `onepeak.metrics.functional`.

All are fed alike, `metric.update(log_probs, labels, predicted)`, and `onepeak.metrics.catalog` knows them by name, with
the direction and the range of each.
"""

from typing import TYPE_CHECKING

from onepeak._lazy import lazy_names

if TYPE_CHECKING:
    from onepeak.metrics import catalog, functional
    from onepeak.metrics.agreement import KendallTau, QuadraticWeightedKappa, SpearmanCorrelation
    from onepeak.metrics.errors import (
        Accuracy,
        AccuracyWithin,
        AverageMeanAbsoluteError,
        MaximumMeanAbsoluteError,
        MeanAbsoluteError,
    )
    from onepeak.metrics.order import NumViolations, SideOrderIndex, UnimodalRate, ViolationSize
    from onepeak.metrics.probabilistic import ExpectedCalibrationError, NegativeLogLikelihood, RankedProbabilityScore

__all__ = [
    "Accuracy",
    "AccuracyWithin",
    "AverageMeanAbsoluteError",
    "ExpectedCalibrationError",
    "KendallTau",
    "MaximumMeanAbsoluteError",
    "MeanAbsoluteError",
    "NegativeLogLikelihood",
    "NumViolations",
    "QuadraticWeightedKappa",
    "RankedProbabilityScore",
    "SideOrderIndex",
    "SpearmanCorrelation",
    "UnimodalRate",
    "ViolationSize",
    "catalog",
    "functional",
]

# torchmetrics takes seconds to import: it comes with the first class that is used.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "catalog": "",
        "functional": "",
        "KendallTau": "onepeak.metrics.agreement",
        "QuadraticWeightedKappa": "onepeak.metrics.agreement",
        "SpearmanCorrelation": "onepeak.metrics.agreement",
        "Accuracy": "onepeak.metrics.errors",
        "AccuracyWithin": "onepeak.metrics.errors",
        "AverageMeanAbsoluteError": "onepeak.metrics.errors",
        "MaximumMeanAbsoluteError": "onepeak.metrics.errors",
        "MeanAbsoluteError": "onepeak.metrics.errors",
        "NumViolations": "onepeak.metrics.order",
        "SideOrderIndex": "onepeak.metrics.order",
        "UnimodalRate": "onepeak.metrics.order",
        "ViolationSize": "onepeak.metrics.order",
        "ExpectedCalibrationError": "onepeak.metrics.probabilistic",
        "NegativeLogLikelihood": "onepeak.metrics.probabilistic",
        "RankedProbabilityScore": "onepeak.metrics.probabilistic",
    },
)
