"""How well the predicted labels agree with the true ones beyond chance."""

from typing import final

from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric, function_of_labels
from onepeak.metrics.functional.cohen_kappa import Weighting, check_weighting


@final
class QuadraticWeightedKappa(LabelMetric):
    """Cohen's kappa with disagreements weighted by their squared distance: `functional.quadratic_weighted_kappa`."""

    higher_is_better = True
    _value = function_of_labels(functional.quadratic_weighted_kappa, "num_classes")


@final
class WeightedKappa(LabelMetric):
    """Cohen's kappa with a choice of weights for disagreements: `functional.weighted_kappa`."""

    higher_is_better = True

    def __init__(self, num_classes: int, *, weighting: Weighting) -> None:
        super().__init__(num_classes=num_classes)
        check_weighting(weighting, num_classes)
        self.weighting = weighting

    _value = function_of_labels(functional.weighted_kappa, "num_classes", "weighting")
