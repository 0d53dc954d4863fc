"""How well the predicted labels agree with the true ones beyond chance, and whether they rank alike."""

from typing import final

from torch import Tensor

from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric


@final
class QuadraticWeightedKappa(LabelMetric):
    """Cohen's kappa with disagreements weighted by their squared distance.

    Range -1 to 1, higher is better, 0 is chance; nan where true and predicted labels are all one and the same class,
    and without samples. See `functional.quadratic_weighted_kappa`.

    Args:
        num_classes: The number of classes, those that may never occur included.

    Example:
        >>> import torch
        >>> metric = QuadraticWeightedKappa(num_classes=3)
        >>> metric.update(torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2]))
        >>> metric.compute().item()
        0.8
    """

    higher_is_better = True

    def _value(self, predicted: Tensor, labels: Tensor, sample_weight: Tensor) -> Tensor:
        return functional.quadratic_weighted_kappa(
            predicted, labels, num_classes=self.num_classes, sample_weight=sample_weight
        )


@final
class KendallTau(LabelMetric):
    """Kendall's tau-b of predicted and true labels, exact whatever the number of samples.

    Range -1 to 1, higher is better, 0 is chance; nan where all true or all predicted labels are the same, and without
    samples. See `functional.kendall_tau`.

    Args:
        num_classes: The number of classes, those that may never occur included.

    Example:
        >>> import torch
        >>> metric = KendallTau(num_classes=3)
        >>> metric.update(torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2]))
        >>> round(metric.compute().item(), 4)
        0.8
    """

    higher_is_better = True

    def _value(self, predicted: Tensor, labels: Tensor, sample_weight: Tensor) -> Tensor:
        return functional.kendall_tau(predicted, labels, num_classes=self.num_classes, sample_weight=sample_weight)


@final
class SpearmanCorrelation(LabelMetric):
    """Spearman's rank correlation of predicted and true labels, exact whatever the number of samples.

    Range -1 to 1, higher is better, 0 is chance; nan where all true or all predicted labels are the same, and without
    samples. See `functional.spearman_correlation`.

    Args:
        num_classes: The number of classes, those that may never occur included.

    Example:
        >>> import torch
        >>> metric = SpearmanCorrelation(num_classes=3)
        >>> metric.update(torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2]))
        >>> round(metric.compute().item(), 4)
        0.8333
    """

    higher_is_better = True

    def _value(self, predicted: Tensor, labels: Tensor, sample_weight: Tensor) -> Tensor:
        return functional.spearman_correlation(
            predicted, labels, num_classes=self.num_classes, sample_weight=sample_weight
        )
