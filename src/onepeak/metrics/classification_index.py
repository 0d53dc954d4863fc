"""Ordinal classification indices: how far the confusion matrix is from one that keeps the order of the samples."""

from typing import final

from torch import Tensor

from onepeak._core.check import check_number
from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric


@final
class OrdinalClassificationIndex(LabelMetric):
    """The OCI: the cost of the cheapest path through the confusion matrix that never goes back in either label.

    Range 0 to 1, lower is better; nan without samples. See `functional.ordinal_classification_index`.

    Args:
        num_classes: Number of classes, including any that never occur.
        beta: Cost of the distance of a path from the diagonal.
        gamma: Power of the distances.

    Example:
        >>> import torch
        >>> metric = OrdinalClassificationIndex(num_classes=3)
        >>> metric.update(torch.tensor([0, 1, 1, 2]), torch.tensor([0, 0, 1, 2]))
        >>> round(metric.compute().item(), 5)
        0.29375
    """

    higher_is_better = False

    def __init__(self, num_classes: int, *, beta: float = 0.75, gamma: float = 1.0) -> None:
        super().__init__(num_classes=num_classes)
        self.beta = check_number("beta", beta, minimum=0)
        self.gamma = check_number("gamma", gamma, above=0)

    def _value(self, predicted: Tensor, labels: Tensor, sample_weight: Tensor) -> Tensor:
        return functional.ordinal_classification_index(
            predicted,
            labels,
            num_classes=self.num_classes,
            beta=self.beta,
            gamma=self.gamma,
            sample_weight=sample_weight,
        )


@final
class UniformOrdinalClassificationIndex(LabelMetric):
    """The UOC: the ordinal classification index with equal weight for every class.

    Range 0 to 1, lower is better; nan without samples. See `functional.uniform_ordinal_classification_index`.

    Args:
        num_classes: Number of classes, including any that never occur.
        beta: Cost of the distance of a path from the diagonal; by default the index is averaged over all betas from 0
            to 1.

    Example:
        >>> import torch
        >>> metric = UniformOrdinalClassificationIndex(num_classes=3)
        >>> metric.update(torch.tensor([0, 1, 1, 2]), torch.tensor([0, 0, 1, 2]))
        >>> round(metric.compute().item(), 4)
        0.2245
    """

    higher_is_better = False

    def __init__(self, num_classes: int, *, beta: float | None = None) -> None:
        super().__init__(num_classes=num_classes)
        self.beta = None if beta is None else check_number("beta", beta, minimum=0)

    def _value(self, predicted: Tensor, labels: Tensor, sample_weight: Tensor) -> Tensor:
        return functional.uniform_ordinal_classification_index(
            predicted, labels, num_classes=self.num_classes, beta=self.beta, sample_weight=sample_weight
        )
