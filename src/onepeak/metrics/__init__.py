"""Metrics for ordered classes: `torchmetrics` classes built on the pure functions in `onepeak.metrics.functional`.

Every metric has the same call, `metric.update(log_probs, labels, predicted)`. `onepeak.metrics.catalog` lists the
metrics by name, with the range and direction of each.

Example:
    >>> import torch
    >>> from onepeak.metrics import MeanAbsoluteError
    >>> metric = MeanAbsoluteError(num_classes=4)
    >>> metric.update(torch.tensor([0, 3, 2, 3]), torch.tensor([0, 1, 2, 3]))  # or log-probabilities, and the labels
    >>> metric.compute().item()
    0.5
"""

from typing import TYPE_CHECKING

from onepeak._core.imports import lazy_names

if TYPE_CHECKING:
    from onepeak.metrics import catalog, functional
    from onepeak.metrics.bootstrap import confidence_intervals
    from onepeak.metrics.classification_index import OrdinalClassificationIndex, UniformOrdinalClassificationIndex
    from onepeak.metrics.closeness import ClosenessEvaluationMeasure
    from onepeak.metrics.cohen_kappa import QuadraticWeightedKappa, WeightedKappa
    from onepeak.metrics.errors import (
        Accuracy,
        AccuracyWithin,
        AverageMeanAbsoluteError,
        MaximumMeanAbsoluteError,
        MeanAbsoluteError,
        MeanAbsoluteErrorOfMedian,
        RootMeanSquaredError,
    )
    from onepeak.metrics.probabilistic import (
        EarthMoverDistance,
        ExpectedCalibrationError,
        NegativeLogLikelihood,
        RankedProbabilityScore,
        StaticCalibrationError,
    )
    from onepeak.metrics.ranking import KendallTau, SpearmanCorrelation
    from onepeak.metrics.sensitivity import (
        BalancedAccuracy,
        ExtremeSensitivity,
        GeometricMeanSensitivity,
        IndexOfBalancedAccuracy,
        MinimumSensitivity,
    )
    from onepeak.metrics.side_order_index import NumViolations, SideOrderIndex, UnimodalRate, ViolationSize

__all__ = [
    "Accuracy",
    "AccuracyWithin",
    "AverageMeanAbsoluteError",
    "BalancedAccuracy",
    "ClosenessEvaluationMeasure",
    "EarthMoverDistance",
    "ExpectedCalibrationError",
    "ExtremeSensitivity",
    "GeometricMeanSensitivity",
    "IndexOfBalancedAccuracy",
    "KendallTau",
    "MaximumMeanAbsoluteError",
    "MeanAbsoluteError",
    "MeanAbsoluteErrorOfMedian",
    "MinimumSensitivity",
    "NegativeLogLikelihood",
    "NumViolations",
    "OrdinalClassificationIndex",
    "QuadraticWeightedKappa",
    "RankedProbabilityScore",
    "RootMeanSquaredError",
    "SideOrderIndex",
    "SpearmanCorrelation",
    "StaticCalibrationError",
    "UniformOrdinalClassificationIndex",
    "UnimodalRate",
    "ViolationSize",
    "WeightedKappa",
    "catalog",
    "confidence_intervals",
    "functional",
]

# torchmetrics takes seconds to import, so it is imported with the first class that is used.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "": ["catalog", "functional"],
        "bootstrap": ["confidence_intervals"],
        "classification_index": ["OrdinalClassificationIndex", "UniformOrdinalClassificationIndex"],
        "closeness": ["ClosenessEvaluationMeasure"],
        "cohen_kappa": ["QuadraticWeightedKappa", "WeightedKappa"],
        "errors": [
            "Accuracy",
            "AccuracyWithin",
            "AverageMeanAbsoluteError",
            "MaximumMeanAbsoluteError",
            "MeanAbsoluteError",
            "MeanAbsoluteErrorOfMedian",
            "RootMeanSquaredError",
        ],
        "probabilistic": [
            "EarthMoverDistance",
            "ExpectedCalibrationError",
            "NegativeLogLikelihood",
            "RankedProbabilityScore",
            "StaticCalibrationError",
        ],
        "ranking": ["KendallTau", "SpearmanCorrelation"],
        "sensitivity": [
            "BalancedAccuracy",
            "ExtremeSensitivity",
            "GeometricMeanSensitivity",
            "IndexOfBalancedAccuracy",
            "MinimumSensitivity",
        ],
        "side_order_index": ["NumViolations", "SideOrderIndex", "UnimodalRate", "ViolationSize"],
    },
)
