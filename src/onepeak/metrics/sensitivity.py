"""How often each class is found, the rare ones too."""

from typing import final, get_args

from torch import Tensor

from onepeak._check import check_choice, check_number
from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric, function_of_labels
from onepeak.metrics.functional.sensitivity import Average


@final
class BalancedAccuracy(LabelMetric):
    """The share of each class that is found, averaged over the classes that occur.

    Range 0 to 1, higher is better; nan without samples. See `functional.balanced_accuracy`.

    Args:
        num_classes: The number of classes, those that may never occur included.

    Example:
        >>> import torch
        >>> metric = BalancedAccuracy(num_classes=4)
        >>> metric.update(torch.tensor([0, 0, 0, 0]), torch.tensor([0, 0, 0, 1]))
        >>> metric.compute().item()
        0.5
    """

    higher_is_better = True
    _value = function_of_labels(functional.balanced_accuracy)


@final
class GeometricMeanSensitivity(LabelMetric):
    """The geometric mean of the shares of each class that are found: zero if one class never is.

    Range 0 to 1, higher is better; nan without samples. Classes that do not occur are left out.
    See `functional.geometric_mean_sensitivity`.

    Args:
        num_classes: The number of classes, those that may never occur included.

    Example:
        >>> import torch
        >>> metric = GeometricMeanSensitivity(num_classes=4)
        >>> metric.update(torch.tensor([0, 1, 1, 1, 1]), torch.tensor([0, 0, 0, 0, 1]))
        >>> metric.compute().item()
        0.5
    """

    higher_is_better = True
    _value = function_of_labels(functional.geometric_mean_sensitivity)


@final
class MinimumSensitivity(LabelMetric):
    """The share of the class that is found least often.

    Range 0 to 1, higher is better; nan without samples. Classes that do not occur are left out.
    See `functional.minimum_sensitivity`.

    Args:
        num_classes: The number of classes, those that may never occur included.

    Example:
        >>> import torch
        >>> metric = MinimumSensitivity(num_classes=4)
        >>> metric.update(torch.tensor([0, 1, 1, 1, 1]), torch.tensor([0, 0, 0, 0, 1]))
        >>> metric.compute().item()
        0.25
    """

    higher_is_better = True
    _value = function_of_labels(functional.minimum_sensitivity)


@final
class ExtremeSensitivity(LabelMetric):
    """The shares of the first and of the last class that are found, averaged.

    Range 0 to 1, higher is better; nan where the first or the last class does not occur, and without samples.
    See `functional.extreme_sensitivity`.

    Args:
        num_classes: The number of classes, those that may never occur included.
        average: "arithmetic" or "geometric".

    Example:
        >>> import torch
        >>> metric = ExtremeSensitivity(num_classes=3)
        >>> metric.update(torch.tensor([0, 0, 1, 2]), torch.tensor([0, 1, 2, 2]))
        >>> metric.compute().item()
        0.75
    """

    higher_is_better = True

    def __init__(self, num_classes: int, *, average: Average = "arithmetic") -> None:
        super().__init__(num_classes=num_classes)
        check_choice("average", average, get_args(Average))
        self.average = average

    def _value(self, predicted: Tensor, labels: Tensor, sample_weight: Tensor) -> Tensor:
        return functional.extreme_sensitivity(
            predicted, labels, num_classes=self.num_classes, average=self.average, sample_weight=sample_weight
        )


@final
class IndexOfBalancedAccuracy(LabelMetric):
    """Each class against all others: the product of both sensitivities, more where the class itself has the higher.

    Range 0 to 1, higher is better; nan where only one class occurs, and without samples.
    See `functional.index_of_balanced_accuracy`.

    Args:
        num_classes: The number of classes, those that may never occur included.
        alpha: How much the difference of both counts, from 0 to 1.

    Example:
        >>> import torch
        >>> metric = IndexOfBalancedAccuracy(num_classes=2)
        >>> metric.update(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]))
        >>> metric.compute().item()
        0.5
    """

    higher_is_better = True

    def __init__(self, num_classes: int, *, alpha: float = 0.1) -> None:
        super().__init__(num_classes=num_classes)
        self.alpha = check_number("alpha", alpha, minimum=0, maximum=1)

    def _value(self, predicted: Tensor, labels: Tensor, sample_weight: Tensor) -> Tensor:
        return functional.index_of_balanced_accuracy(
            predicted, labels, num_classes=self.num_classes, alpha=self.alpha, sample_weight=sample_weight
        )
