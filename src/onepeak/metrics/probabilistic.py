"""How good the probabilities are: proper scores and calibration."""

from typing import final

import torch
from torch import Tensor

from onepeak._core.check import check_integer
from onepeak._core.tensors import Scalar
from onepeak.metrics import functional
from onepeak.metrics._base import OrdinalMetric, PosteriorMean
from onepeak.metrics.functional.probabilistic import calibration_bins, calibration_error, class_bins


@final
class NegativeLogLikelihood(PosteriorMean):
    """Mean negative log-probability of the true label, in nats: `functional.negative_log_likelihood`."""

    _function = staticmethod(functional.negative_log_likelihood)


@final
class RankedProbabilityScore(PosteriorMean):
    """Squared distance of the cumulative distribution from that of the true label, summed over thresholds; the mean.

    See `functional.ranked_probability_score`.
    """

    _function = staticmethod(functional.ranked_probability_score)


@final
class EarthMoverDistance(PosteriorMean):
    """Mean distance, in classes, that probability has to move to reach the true label: the expected absolute error.

    See `functional.earth_mover_distance`.
    """

    _function = staticmethod(functional.earth_mover_distance)


@final
class ExpectedCalibrationError(OrdinalMetric):
    """Mean gap between the probability of the mode and how often the mode is correct.

    See `functional.expected_calibration_error`.
    """

    higher_is_better = False
    refuses_scores = True
    bins: Tensor

    def __init__(self, num_classes: int, *, num_bins: int = 15) -> None:
        super().__init__(num_classes=num_classes)
        self.num_bins = check_integer("num_bins", num_bins, minimum=1)
        self.add_state("bins", torch.zeros(self.num_bins, 3, dtype=torch.float64), dist_reduce_fx="sum")

    def compute(self) -> Scalar:
        return calibration_error(self.bins)

    def _add(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None, weights: Tensor) -> None:  # noqa: ARG002
        self.bins = self.bins + calibration_bins(log_probs, labels, num_bins=self.num_bins, sample_weight=weights)


@final
class StaticCalibrationError(OrdinalMetric):
    """Mean gap between the probability of a class and how often it is true, averaged over all classes.

    See `functional.static_calibration_error`.
    """

    higher_is_better = False
    refuses_scores = True
    class_bins: Tensor

    def __init__(self, num_classes: int, *, num_bins: int = 15) -> None:
        super().__init__(num_classes=num_classes)
        self.num_bins = check_integer("num_bins", num_bins, minimum=1)
        sums = torch.zeros(self.num_classes * self.num_bins, 3, dtype=torch.float64)
        self.add_state("class_bins", sums, dist_reduce_fx="sum")

    def compute(self) -> Scalar:
        return calibration_error(self.class_bins)

    def _add(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None, weights: Tensor) -> None:  # noqa: ARG002
        self.class_bins = self.class_bins + class_bins(log_probs, labels, num_bins=self.num_bins, sample_weight=weights)
