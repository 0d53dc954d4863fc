"""How often each class is found, including rare ones."""

from typing import final, get_args

from onepeak._core.check import check_choice, check_number
from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric, function_of_labels
from onepeak.metrics.functional.sensitivity import Average


@final
class BalancedAccuracy(LabelMetric):
    """The sensitivity of each class, averaged over the classes that occur: `functional.balanced_accuracy`."""

    higher_is_better = True
    _value = function_of_labels(functional.balanced_accuracy, "num_classes")


@final
class GeometricMeanSensitivity(LabelMetric):
    """The geometric mean of the sensitivities: zero if one class is never found.

    See `functional.geometric_mean_sensitivity`.
    """

    higher_is_better = True
    _value = function_of_labels(functional.geometric_mean_sensitivity, "num_classes")


@final
class MinimumSensitivity(LabelMetric):
    """The sensitivity of the class that is found least often: `functional.minimum_sensitivity`."""

    higher_is_better = True
    _value = function_of_labels(functional.minimum_sensitivity, "num_classes")


@final
class ExtremeSensitivity(LabelMetric):
    """The mean sensitivity of the first and the last class: `functional.extreme_sensitivity`."""

    higher_is_better = True

    def __init__(self, num_classes: int, *, average: Average = "arithmetic") -> None:
        super().__init__(num_classes=num_classes)
        check_choice("average", average, get_args(Average))
        self.average = average

    _value = function_of_labels(functional.extreme_sensitivity, "num_classes", "average")


@final
class IndexOfBalancedAccuracy(LabelMetric):
    """Each class against all others: the product of sensitivity and specificity, raised where sensitivity is higher.

    See `functional.index_of_balanced_accuracy`.
    """

    higher_is_better = True

    def __init__(self, num_classes: int, *, alpha: float = 0.1) -> None:
        super().__init__(num_classes=num_classes)
        self.alpha = check_number("alpha", alpha, minimum=0, maximum=1)

    _value = function_of_labels(functional.index_of_balanced_accuracy, "num_classes", "alpha")
