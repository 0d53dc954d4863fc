"""How good the probabilities are: proper scores and calibration."""

from typing import final

import torch
from torch import Tensor

from onepeak._core.check import check_integer
from onepeak._core.tensors import Scalar
from onepeak.metrics import functional
from onepeak.metrics._base import OrdinalMetric, SampleMean
from onepeak.metrics.functional.probabilistic import calibration_bins, calibration_error


@final
class NegativeLogLikelihood(SampleMean):
    """Mean negative log-probability of the true label, in nats: `functional.negative_log_likelihood`.

    Example:
        >>> metric = NegativeLogLikelihood(num_classes=3)
        >>> metric.update(torch.tensor([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]).log(), torch.tensor([0, 1]))
        >>> round(metric.compute().item(), 4)
        0.3466
    """

    higher_is_better = False
    refuses_scores = True

    def __init__(self, num_classes: int) -> None:
        super().__init__(num_classes=num_classes, quantity="nll")

    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:  # noqa: ARG002
        return functional.negative_log_likelihood(log_probs, labels)


@final
class RankedProbabilityScore(SampleMean):
    """Squared distance of the cumulative distribution from that of the true label, summed over thresholds; the mean.

    See `functional.ranked_probability_score`.

    Example:
        >>> metric = RankedProbabilityScore(num_classes=3)
        >>> metric.update(torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]).log(), torch.tensor([0, 2]))
        >>> metric.compute().item()
        0.15625
    """

    higher_is_better = False
    refuses_scores = True

    def __init__(self, num_classes: int) -> None:
        super().__init__(num_classes=num_classes, quantity="rps")

    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:  # noqa: ARG002
        return functional.ranked_probability_score(log_probs, labels)


@final
class EarthMoverDistance(SampleMean):
    """Mean distance, in classes, that probability has to move to reach the true label: the expected absolute error.

    See `functional.earth_mover_distance`.

    Example:
        >>> metric = EarthMoverDistance(num_classes=3)
        >>> metric.update(torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]).log(), torch.tensor([0, 2]))
        >>> metric.compute().item()
        0.375
    """

    higher_is_better = False
    refuses_scores = True

    def __init__(self, num_classes: int) -> None:
        super().__init__(num_classes=num_classes, quantity="emd")

    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:  # noqa: ARG002
        return functional.earth_mover_distance(log_probs, labels)


@final
class ExpectedCalibrationError(OrdinalMetric):
    """Mean gap between the probability of the mode and how often the mode is correct.

    See `functional.expected_calibration_error`.

    Example:
        >>> metric = ExpectedCalibrationError(num_classes=2)
        >>> metric.update(torch.tensor([[0.75, 0.25], [0.25, 0.75]]).log(), torch.tensor([0, 0]))
        >>> round(metric.compute().item(), 4)
        0.25
    """

    higher_is_better = False
    refuses_scores = True
    bins: Tensor

    def __init__(self, num_classes: int, *, num_bins: int = 15) -> None:
        super().__init__(num_classes=num_classes)
        self.num_bins = check_integer("num_bins", num_bins, minimum=1)
        self.add_state("bins", torch.zeros(self.num_bins, 3, dtype=torch.float64), dist_reduce_fx="sum")

    def compute(self) -> Scalar:
        """Returns the value over all samples so far, in all processes."""
        return calibration_error(self.bins)

    def _add(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None, weights: Tensor) -> None:  # noqa: ARG002
        self.bins = self.bins + calibration_bins(log_probs, labels, num_bins=self.num_bins, sample_weight=weights)
