"""How far the predicted labels are from the true ones, in classes."""

from typing import final

from onepeak._core.check import check_integer
from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric, PosteriorMean, function_of_labels


@final
class MeanAbsoluteError(LabelMetric):
    """Mean distance of the predicted label from the true one, in classes: `functional.mean_absolute_error`."""

    higher_is_better = False
    _value = function_of_labels(functional.mean_absolute_error)


@final
class MeanAbsoluteErrorOfMedian(PosteriorMean):
    """Mean distance of the posterior's median from the true label, in classes, whatever label was predicted.

    See `functional.absolute_error_of_median`.
    """

    _function = staticmethod(functional.absolute_error_of_median)


@final
class RootMeanSquaredError(LabelMetric):
    """Root of the mean squared distance of the predicted label from the true one, in classes.

    See `functional.root_mean_squared_error`.
    """

    higher_is_better = False
    _value = function_of_labels(functional.root_mean_squared_error)


@final
class AverageMeanAbsoluteError(LabelMetric):
    """The mean absolute error of each class, averaged over the classes that occur.

    See `functional.average_mean_absolute_error`.
    """

    higher_is_better = False
    _value = function_of_labels(functional.average_mean_absolute_error, "num_classes")


@final
class MaximumMeanAbsoluteError(LabelMetric):
    """The mean absolute error of the worst class: `functional.maximum_mean_absolute_error`."""

    higher_is_better = False
    _value = function_of_labels(functional.maximum_mean_absolute_error, "num_classes")


@final
class Accuracy(LabelMetric):
    """Share of samples whose predicted label is the true one: `functional.accuracy`."""

    higher_is_better = True
    _value = function_of_labels(functional.accuracy)


@final
class AccuracyWithin(LabelMetric):
    """Share of samples whose predicted label is at most `k` classes from the true one: `functional.accuracy_within`."""

    higher_is_better = True

    def __init__(self, num_classes: int, *, k: int = 1) -> None:
        super().__init__(num_classes=num_classes)
        self.k = check_integer("k", k, minimum=0)

    _value = function_of_labels(functional.accuracy_within, "k")
