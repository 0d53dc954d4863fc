"""How well the predicted labels agree with the true ones beyond chance."""

from typing import final

from torch import Tensor

from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric, function_of_labels
from onepeak.metrics.functional.cohen_kappa import Weighting, check_weighting


@final
class QuadraticWeightedKappa(LabelMetric):
    """Cohen's kappa with disagreements weighted by their squared distance.

    Range -1 to 1, higher is better, 0 is chance; nan if all true and predicted labels are the same class, or without
    samples. See `functional.quadratic_weighted_kappa`.

    Args:
        num_classes: Number of classes, including any that never occur.

    Example:
        >>> import torch
        >>> metric = QuadraticWeightedKappa(num_classes=3)
        >>> metric.update(torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2]))
        >>> metric.compute().item()
        0.8
    """

    higher_is_better = True
    _value = function_of_labels(functional.quadratic_weighted_kappa)


@final
class WeightedKappa(LabelMetric):
    """Cohen's kappa with a choice of weights for disagreements.

    At most 1, higher is better, 0 is chance; nan if all true and predicted labels are the same class, or without
    samples. See `functional.weighted_kappa`.

    Args:
        num_classes: Number of classes, including any that never occur.
        weighting: The cost of a disagreement: "none" (1 for every error: plain kappa), "linear", "quadratic", a power
            of the distance, or a table of true (row) by predicted (column) labels.

    Example:
        >>> import torch
        >>> metric = WeightedKappa(num_classes=3, weighting="linear")
        >>> metric.update(torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2]))
        >>> round(metric.compute().item(), 4)
        0.7143
    """

    higher_is_better = True

    def __init__(self, num_classes: int, *, weighting: Weighting) -> None:
        super().__init__(num_classes=num_classes)
        check_weighting(weighting, num_classes)
        self.weighting = weighting

    def _value(self, predicted: Tensor, labels: Tensor, sample_weight: Tensor) -> Tensor:
        return functional.weighted_kappa(
            predicted, labels, num_classes=self.num_classes, weighting=self.weighting, sample_weight=sample_weight
        )
