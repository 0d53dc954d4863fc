"""Metrics of the true and the predicted labels, each over its function in `metrics.functional`, which explains it."""

from typing import Any, final, get_args

from torch import Tensor

from onepeak._core.check import check_choice, check_integer, check_number
from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric, SampleMean
from onepeak.metrics.functional.cohen_kappa import Weighting, check_weighting
from onepeak.metrics.functional.sensitivity import Average


@final
class MeanAbsoluteError(SampleMean):
    """Mean distance of the predicted label from the true one, in classes: `functional.mean_absolute_error`."""

    higher_is_better = False
    takes_labels = True

    def __init__(self, num_classes: int, **standard: Any) -> None:
        super().__init__(num_classes, quantity="absolute_error", **standard)

    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:  # noqa: ARG002
        return (predicted.long() - labels.long()).abs()


@final
class RootMeanSquaredError(LabelMetric):
    """Root of the mean squared distance, in classes: `functional.root_mean_squared_error`."""

    higher_is_better = False
    _function = staticmethod(functional.root_mean_squared_error)


@final
class AverageMeanAbsoluteError(LabelMetric):
    """The MAE of each class, averaged over the classes that occur: `functional.average_mean_absolute_error`."""

    higher_is_better = False
    _function = staticmethod(functional.average_mean_absolute_error)


@final
class MaximumMeanAbsoluteError(LabelMetric):
    """The mean absolute error of the worst class: `functional.maximum_mean_absolute_error`."""

    higher_is_better = False
    _function = staticmethod(functional.maximum_mean_absolute_error)


@final
class Accuracy(LabelMetric):
    """Share of samples whose predicted label is the true one: `functional.accuracy`."""

    _function = staticmethod(functional.accuracy)


@final
class AccuracyWithin(LabelMetric):
    """Share of samples whose predicted label is at most `k` classes from the true one: `functional.accuracy_within`."""

    _function = staticmethod(functional.accuracy_within)

    def __init__(self, num_classes: int, *, k: int = 1, **standard: Any) -> None:
        super().__init__(num_classes, **standard)
        self.k = check_integer("k", k, minimum=0)


@final
class QuadraticWeightedKappa(LabelMetric):
    """Cohen's kappa with disagreements weighted by their squared distance: `functional.quadratic_weighted_kappa`."""

    _function = staticmethod(functional.quadratic_weighted_kappa)


@final
class WeightedKappa(LabelMetric):
    """Cohen's kappa with a choice of weights for disagreements: `functional.weighted_kappa`."""

    _function = staticmethod(functional.weighted_kappa)

    def __init__(self, num_classes: int, *, weighting: Weighting, **standard: Any) -> None:
        super().__init__(num_classes, **standard)
        check_weighting(weighting, num_classes)
        self.weighting = weighting


@final
class KendallTau(LabelMetric):
    """Kendall's tau-b of predicted and true labels, exact for any number of samples: `functional.kendall_tau`."""

    _function = staticmethod(functional.kendall_tau)


@final
class SpearmanCorrelation(LabelMetric):
    """Spearman's rank correlation, exact for any number of samples: `functional.spearman_correlation`."""

    _function = staticmethod(functional.spearman_correlation)


@final
class ClosenessEvaluationMeasure(LabelMetric):
    """The CEM: closeness in bits, relative to a perfect prediction: `functional.closeness_evaluation_measure`."""

    _function = staticmethod(functional.closeness_evaluation_measure)


@final
class OrdinalClassificationIndex(LabelMetric):
    """The OCI: the cost of the cheapest path through the confusion matrix that never goes back in either label.

    See `functional.ordinal_classification_index`.
    """

    higher_is_better = False
    _function = staticmethod(functional.ordinal_classification_index)

    def __init__(self, num_classes: int, *, beta: float = 0.75, gamma: float = 1.0, **standard: Any) -> None:
        super().__init__(num_classes, **standard)
        self.beta = check_number("beta", beta, minimum=0)
        self.gamma = check_number("gamma", gamma, above=0)


@final
class UniformOrdinalClassificationIndex(LabelMetric):
    """The UOC: the OCI with equal weight for every class: `functional.uniform_ordinal_classification_index`."""

    higher_is_better = False
    _function = staticmethod(functional.uniform_ordinal_classification_index)

    def __init__(self, num_classes: int, *, beta: float | None = None, **standard: Any) -> None:
        super().__init__(num_classes, **standard)
        self.beta = None if beta is None else check_number("beta", beta, minimum=0)


@final
class BalancedAccuracy(LabelMetric):
    """The sensitivity of each class, averaged over the classes that occur: `functional.balanced_accuracy`."""

    _function = staticmethod(functional.balanced_accuracy)


@final
class GeometricMeanSensitivity(LabelMetric):
    """The geometric mean of the sensitivities: `functional.geometric_mean_sensitivity`."""

    _function = staticmethod(functional.geometric_mean_sensitivity)


@final
class MinimumSensitivity(LabelMetric):
    """The sensitivity of the class that is found least often: `functional.minimum_sensitivity`."""

    _function = staticmethod(functional.minimum_sensitivity)


@final
class ExtremeSensitivity(LabelMetric):
    """The mean sensitivity of the first and the last class: `functional.extreme_sensitivity`."""

    _function = staticmethod(functional.extreme_sensitivity)

    def __init__(self, num_classes: int, *, average: Average = "arithmetic", **standard: Any) -> None:
        super().__init__(num_classes, **standard)
        check_choice("average", average, get_args(Average))
        self.average = average


@final
class IndexOfBalancedAccuracy(LabelMetric):
    """The product of sensitivity and specificity, raised where sensitivity is higher.

    See `functional.index_of_balanced_accuracy`.
    """

    _function = staticmethod(functional.index_of_balanced_accuracy)

    def __init__(self, num_classes: int, *, alpha: float = 0.1, **standard: Any) -> None:
        super().__init__(num_classes, **standard)
        self.alpha = check_number("alpha", alpha, minimum=0, maximum=1)
