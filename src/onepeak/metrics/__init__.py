"""Metrics for ordered classes: `torchmetrics` classes over the pure functions in `onepeak.metrics.functional`.

All are fed alike, `metric.update(log_probs, labels, predicted)`, and `onepeak.metrics.catalog` knows them by name, with
the direction and the range of each.
"""

from typing import TYPE_CHECKING

from onepeak._lazy import lazy_names

if TYPE_CHECKING:
    from onepeak.metrics import catalog, functional
    from onepeak.metrics.classification_index import OrdinalClassificationIndex, UniformOrdinalClassificationIndex
    from onepeak.metrics.errors import (
        Accuracy,
        AccuracyWithin,
        AverageMeanAbsoluteError,
        MaximumMeanAbsoluteError,
        MeanAbsoluteError,
        RootMeanSquaredError,
    )
    from onepeak.metrics.kappa import QuadraticWeightedKappa, WeightedKappa
    from onepeak.metrics.order import NumViolations, SideOrderIndex, UnimodalRate, ViolationSize
    from onepeak.metrics.probabilistic import (
        EarthMoverDistance,
        ExpectedCalibrationError,
        NegativeLogLikelihood,
        RankedProbabilityScore,
    )
    from onepeak.metrics.ranking import KendallTau, SpearmanCorrelation
    from onepeak.metrics.sensitivity import (
        BalancedAccuracy,
        ExtremeSensitivity,
        GeometricMeanSensitivity,
        IndexOfBalancedAccuracy,
        MinimumSensitivity,
    )

__all__ = [
    "Accuracy",
    "AccuracyWithin",
    "AverageMeanAbsoluteError",
    "BalancedAccuracy",
    "EarthMoverDistance",
    "ExpectedCalibrationError",
    "ExtremeSensitivity",
    "GeometricMeanSensitivity",
    "IndexOfBalancedAccuracy",
    "KendallTau",
    "MaximumMeanAbsoluteError",
    "MeanAbsoluteError",
    "MinimumSensitivity",
    "NegativeLogLikelihood",
    "NumViolations",
    "OrdinalClassificationIndex",
    "QuadraticWeightedKappa",
    "RankedProbabilityScore",
    "RootMeanSquaredError",
    "SideOrderIndex",
    "SpearmanCorrelation",
    "UniformOrdinalClassificationIndex",
    "UnimodalRate",
    "ViolationSize",
    "WeightedKappa",
    "catalog",
    "functional",
]

# torchmetrics takes seconds to import: it comes with the first class that is used.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "catalog": "",
        "functional": "",
        "OrdinalClassificationIndex": "onepeak.metrics.classification_index",
        "UniformOrdinalClassificationIndex": "onepeak.metrics.classification_index",
        "Accuracy": "onepeak.metrics.errors",
        "AccuracyWithin": "onepeak.metrics.errors",
        "AverageMeanAbsoluteError": "onepeak.metrics.errors",
        "MaximumMeanAbsoluteError": "onepeak.metrics.errors",
        "MeanAbsoluteError": "onepeak.metrics.errors",
        "RootMeanSquaredError": "onepeak.metrics.errors",
        "QuadraticWeightedKappa": "onepeak.metrics.kappa",
        "WeightedKappa": "onepeak.metrics.kappa",
        "NumViolations": "onepeak.metrics.order",
        "SideOrderIndex": "onepeak.metrics.order",
        "UnimodalRate": "onepeak.metrics.order",
        "ViolationSize": "onepeak.metrics.order",
        "EarthMoverDistance": "onepeak.metrics.probabilistic",
        "ExpectedCalibrationError": "onepeak.metrics.probabilistic",
        "NegativeLogLikelihood": "onepeak.metrics.probabilistic",
        "RankedProbabilityScore": "onepeak.metrics.probabilistic",
        "KendallTau": "onepeak.metrics.ranking",
        "SpearmanCorrelation": "onepeak.metrics.ranking",
        "BalancedAccuracy": "onepeak.metrics.sensitivity",
        "ExtremeSensitivity": "onepeak.metrics.sensitivity",
        "GeometricMeanSensitivity": "onepeak.metrics.sensitivity",
        "IndexOfBalancedAccuracy": "onepeak.metrics.sensitivity",
        "MinimumSensitivity": "onepeak.metrics.sensitivity",
    },
)
