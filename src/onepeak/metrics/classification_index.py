"""Ordinal classification indices: how far the confusion matrix is from one that keeps the order of the samples."""

from typing import final

from onepeak._core.check import check_number
from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric, function_of_labels


@final
class OrdinalClassificationIndex(LabelMetric):
    """The OCI: the cost of the cheapest path through the confusion matrix that never goes back in either label.

    See `functional.ordinal_classification_index`.
    """

    higher_is_better = False

    def __init__(self, num_classes: int, *, beta: float = 0.75, gamma: float = 1.0) -> None:
        super().__init__(num_classes=num_classes)
        self.beta = check_number("beta", beta, minimum=0)
        self.gamma = check_number("gamma", gamma, above=0)

    _value = function_of_labels(functional.ordinal_classification_index, "num_classes", "beta", "gamma")


@final
class UniformOrdinalClassificationIndex(LabelMetric):
    """The UOC: the ordinal classification index with equal weight for every class.

    See `functional.uniform_ordinal_classification_index`.
    """

    higher_is_better = False

    def __init__(self, num_classes: int, *, beta: float | None = None) -> None:
        super().__init__(num_classes=num_classes)
        self.beta = None if beta is None else check_number("beta", beta, minimum=0)

    _value = function_of_labels(functional.uniform_ordinal_classification_index, "num_classes", "beta")
