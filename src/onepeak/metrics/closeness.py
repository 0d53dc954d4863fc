"""Closeness evaluation measure: how informative it is that a prediction is as close to the truth as it is."""

from typing import final

from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric, function_of_labels


@final
class ClosenessEvaluationMeasure(LabelMetric):
    """The CEM: closeness in bits, relative to a perfect prediction: `functional.closeness_evaluation_measure`."""

    higher_is_better = True
    _value = function_of_labels(functional.closeness_evaluation_measure, "num_classes")
