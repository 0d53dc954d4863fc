"""How far the predicted labels are from the true ones, in classes."""

from typing import final

from torch import Tensor

from onepeak._core.check import check_integer
from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric, SampleMean, function_of_labels


@final
class MeanAbsoluteError(LabelMetric):
    """Mean distance of the predicted label from the true one, in classes: `functional.mean_absolute_error`.

    Example:
        >>> import torch
        >>> metric = MeanAbsoluteError(num_classes=4)
        >>> metric.update(torch.tensor([0, 3, 2, 3]), torch.tensor([0, 1, 2, 3]))
        >>> metric.compute().item()
        0.5
    """

    higher_is_better = False

    _value = function_of_labels(functional.mean_absolute_error)


@final
class MeanAbsoluteErrorOfMedian(SampleMean):
    """Mean distance of the posterior's median from the true label, in classes, whatever label was predicted.

    See `functional.absolute_error_of_median`.

    Example:
        >>> import torch
        >>> metric = MeanAbsoluteErrorOfMedian(num_classes=3)
        >>> metric.update(torch.tensor([[0.4, 0.3, 0.3], [0.0, 0.0, 1.0]]).log(), torch.tensor([0, 0]))
        >>> metric.compute().item()
        1.5
    """

    higher_is_better = False
    refuses_scores = True

    def __init__(self, num_classes: int) -> None:
        super().__init__(num_classes=num_classes, quantity="absolute_error_of_median")

    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:  # noqa: ARG002
        return functional.absolute_error_of_median(log_probs, labels)


@final
class RootMeanSquaredError(LabelMetric):
    """Root of the mean squared distance of the predicted label from the true one, in classes.

    See `functional.root_mean_squared_error`.

    Example:
        >>> import torch
        >>> metric = RootMeanSquaredError(num_classes=4)
        >>> metric.update(torch.tensor([0, 3, 2, 3]), torch.tensor([0, 1, 2, 3]))
        >>> metric.compute().item()
        1.0
    """

    higher_is_better = False

    _value = function_of_labels(functional.root_mean_squared_error)


@final
class AverageMeanAbsoluteError(LabelMetric):
    """The mean absolute error of each class, averaged over the classes that occur.

    See `functional.average_mean_absolute_error`.

    Example:
        >>> import torch
        >>> metric = AverageMeanAbsoluteError(num_classes=70)
        >>> metric.update(torch.tensor([0, 69]), torch.tensor([69, 0]))
        >>> metric.compute().item()
        69.0
    """

    higher_is_better = False
    _value = function_of_labels(functional.average_mean_absolute_error, "num_classes")


@final
class MaximumMeanAbsoluteError(LabelMetric):
    """The mean absolute error of the worst class: `functional.maximum_mean_absolute_error`.

    Example:
        >>> import torch
        >>> metric = MaximumMeanAbsoluteError(num_classes=4)
        >>> metric.update(torch.tensor([0, 0, 0, 3]), torch.tensor([0, 0, 0, 1]))
        >>> metric.compute().item()
        2.0
    """

    higher_is_better = False
    _value = function_of_labels(functional.maximum_mean_absolute_error, "num_classes")


@final
class Accuracy(LabelMetric):
    """Share of samples whose predicted label is the true one: `functional.accuracy`.

    Example:
        >>> import torch
        >>> metric = Accuracy(num_classes=4)
        >>> metric.update(torch.tensor([0, 3, 2, 3]), torch.tensor([0, 1, 2, 3]))
        >>> metric.compute().item()
        0.75
    """

    higher_is_better = True

    _value = function_of_labels(functional.accuracy)


@final
class AccuracyWithin(LabelMetric):
    """Share of samples whose predicted label is at most `k` classes from the true one: `functional.accuracy_within`.

    Example:
        >>> import torch
        >>> metric = AccuracyWithin(num_classes=4, k=1)
        >>> metric.update(torch.tensor([0, 3, 2, 2]), torch.tensor([0, 1, 2, 3]))
        >>> metric.compute().item()
        0.75
    """

    higher_is_better = True

    def __init__(self, num_classes: int, *, k: int = 1) -> None:
        super().__init__(num_classes=num_classes)
        self.k = check_integer("k", k, minimum=0)

    _value = function_of_labels(functional.accuracy_within, "k")
