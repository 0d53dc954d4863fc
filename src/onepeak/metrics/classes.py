"""The metric classes, each over its function in `metrics.functional`, which explains it."""

import types
from collections.abc import Callable
from typing import Any, final, get_args

import torch
from torch import Tensor

from onepeak._core.check import check_choice, check_integer
from onepeak._core.tensors import Scalar
from onepeak.constraints.gaps import pairs_in_order
from onepeak.metrics import functional
from onepeak.metrics._base import LabelMetric, OrdinalMetric, SampleMean
from onepeak.metrics.functional.confusion_matrix import total_weight, weighted_sum
from onepeak.metrics.functional.probabilistic import calibration_bins, calibration_error, class_bins
from onepeak.metrics.functional.side_order_index import Reference
from onepeak.posterior.shape import Unimodality, is_unimodal


@final
class MeanAbsoluteError(SampleMean):
    """Mean distance of the predicted label from the true one, in classes: `functional.mean_absolute_error`."""

    higher_is_better = False
    takes_labels = True

    def __init__(self, num_classes: int, **standard: Any) -> None:
        super().__init__(num_classes, quantity="absolute_error", **standard)

    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:  # noqa: ARG002
        return (predicted.long() - labels.long()).abs_()


def _metric_of(function: Callable[..., Tensor], base: type[OrdinalMetric], **options: bool) -> Any:
    """Makes the class of a function, with its name in capitals and its summary; the settings are its arguments."""
    summary = (function.__doc__ or "").partition("\n")[0]
    text = f"{summary}\n\nSee `functional.{function.__name__}`."
    name = function.__name__.title().replace("_", "")
    keywords = {"function": function, **options}
    return types.new_class(name, (base,), keywords, lambda body: body.update(__module__=__name__, __doc__=text))


RootMeanSquaredError = _metric_of(functional.root_mean_squared_error, LabelMetric, higher_is_better=False)
AverageMeanAbsoluteError = _metric_of(functional.average_mean_absolute_error, LabelMetric, higher_is_better=False)
MaximumMeanAbsoluteError = _metric_of(functional.maximum_mean_absolute_error, LabelMetric, higher_is_better=False)
Accuracy = _metric_of(functional.accuracy, LabelMetric)
AccuracyWithin = _metric_of(functional.accuracy_within, LabelMetric)
QuadraticWeightedKappa = _metric_of(functional.quadratic_weighted_kappa, LabelMetric)
WeightedKappa = _metric_of(functional.weighted_kappa, LabelMetric)
KendallTau = _metric_of(functional.kendall_tau, LabelMetric)
SpearmanCorrelation = _metric_of(functional.spearman_correlation, LabelMetric)
ClosenessEvaluationMeasure = _metric_of(functional.closeness_evaluation_measure, LabelMetric)
OrdinalClassificationIndex = _metric_of(functional.ordinal_classification_index, LabelMetric, higher_is_better=False)
UniformOrdinalClassificationIndex = _metric_of(
    functional.uniform_ordinal_classification_index, LabelMetric, higher_is_better=False
)
BalancedAccuracy = _metric_of(functional.balanced_accuracy, LabelMetric)
GeometricMeanSensitivity = _metric_of(functional.geometric_mean_sensitivity, LabelMetric)
MinimumSensitivity = _metric_of(functional.minimum_sensitivity, LabelMetric)
ExtremeSensitivity = _metric_of(functional.extreme_sensitivity, LabelMetric)
IndexOfBalancedAccuracy = _metric_of(functional.index_of_balanced_accuracy, LabelMetric)


class _PosteriorMean(SampleMean):
    """The mean of a pure function of log-probabilities and true labels."""

    higher_is_better = False
    is_differentiable = True
    refuses_scores = True

    def __init__(self, num_classes: int, **standard: Any) -> None:
        super().__init__(num_classes, quantity=type(self).__name__, **standard)

    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:  # noqa: ARG002
        return type(self)._function(log_probs, labels)


@final
class MeanAbsoluteErrorOfMedian(_PosteriorMean, function=functional.absolute_error_of_median):
    """Mean distance of the posterior's median from the true label, in classes, whatever label was predicted.

    See `functional.absolute_error_of_median`.
    """

    is_differentiable = False


NegativeLogLikelihood = _metric_of(functional.negative_log_likelihood, _PosteriorMean)
RankedProbabilityScore = _metric_of(functional.ranked_probability_score, _PosteriorMean)
EarthMoverDistance = _metric_of(functional.earth_mover_distance, _PosteriorMean)


class _CalibrationError(OrdinalMetric):
    """A mean gap between stated probabilities and how often they come true, in bins; the state are the bins' sums."""

    higher_is_better = False
    is_differentiable = True
    refuses_scores = True
    _state: str

    def __init__(self, num_classes: int, *, num_bins: int = 15, **standard: Any) -> None:
        super().__init__(num_classes, **standard)
        self.num_bins = check_integer("num_bins", num_bins, minimum=1)
        kinds = self.num_classes if self._state == "class_bins" else 1
        sums = torch.zeros(kinds * self.num_bins, 3, dtype=torch.float64)
        self.add_state(self._state, sums, dist_reduce_fx="sum")

    def compute(self) -> Scalar:
        return calibration_error(getattr(self, self._state))

    def _add(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None, weights: Tensor | None) -> None:  # noqa: ARG002
        sums = type(self)._function(log_probs, labels, num_bins=self.num_bins, sample_weight=weights)
        setattr(self, self._state, getattr(self, self._state) + sums)


@final
class ExpectedCalibrationError(_CalibrationError, function=calibration_bins):
    """Mean gap between the probability of the mode and how often the mode is correct.

    See `functional.expected_calibration_error`.
    """

    _state = "bins"


@final
class StaticCalibrationError(_CalibrationError, function=class_bins):
    """Mean gap between the probability of a class and how often it is true, averaged over all classes.

    See `functional.static_calibration_error`.
    """

    _state = "class_bins"


class _PairMetric(OrdinalMetric):
    """A metric that counts the adjacent pairs of classes whose scores fall strictly away from a reference label.

    All pair metrics keep the same sums, for both references, so a `torchmetrics.MetricCollection` computes them once
    for all of them.
    """

    pairs_in_order: Tensor

    def __init__(self, num_classes: int, *, reference: Reference = "predicted", **standard: Any) -> None:
        super().__init__(num_classes, **standard)
        check_choice("reference", reference, get_args(Reference))
        self.reference = reference
        sums = torch.zeros(3, dtype=torch.float64)  # in order to the predicted labels, to the true ones; weights
        self.add_state("pairs_in_order", sums, dist_reduce_fx="sum")

    def _mean_in_order(self) -> Tensor:
        """Returns how many of the c - 1 pairs are in order, on average."""
        to_predicted, to_true, weight = self.pairs_in_order
        mean: Tensor = (to_predicted if self.reference == "predicted" else to_true) / weight
        return mean

    def _add(self, log_probs: Tensor, labels: Tensor, predicted: Tensor | None, weights: Tensor | None) -> None:
        predicted = log_probs.argmax(dim=-1) if predicted is None else predicted
        sums = [weighted_sum(pairs_in_order(log_probs, about), weights) for about in (predicted, labels)]
        self.pairs_in_order = self.pairs_in_order + torch.stack([*sums, total_weight(labels, weights)])


@final
class SideOrderIndex(_PairMetric):
    """Mean share of adjacent pairs of classes that fall strictly away from the reference label.

    See `functional.side_order_index`.

    Args:
        reference: The label to fall away from: "predicted" (is the posterior consistent with its own prediction?) or
            "true".

    Example:
        >>> import torch
        >>> metric = SideOrderIndex(num_classes=3, reference="predicted")
        >>> metric.update(torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]]).log(), torch.tensor([1, 1]))
        >>> metric.compute().item()
        0.75
        >>> round(metric.chance, 4)
        0.8333

    Reference: Belharbi et al. 2019, section 4 (performance metrics).
    """

    @property
    def chance(self) -> float:
        """The mean value for random scores, with their mode as the prediction."""
        return functional.side_order_chance(self.num_classes, reference=self.reference)

    def compute(self) -> Scalar:
        return self._mean_in_order() / (self.num_classes - 1)


@final
class NumViolations(_PairMetric):
    """Mean number of adjacent pairs that do not fall away from the reference label; ties are violations.

    See `functional.num_violations`.

    Args:
        reference: The label to fall away from: "predicted" or "true".
    """

    higher_is_better = False

    def compute(self) -> Scalar:
        return self.num_classes - 1 - self._mean_in_order()


@final
class ViolationSize(SampleMean):
    """Mean probability by which a posterior rises on the way out from the reference label: `functional.violation_size`.

    Args:
        reference: The label to fall away from: "predicted" or "true".
    """

    higher_is_better = False
    is_differentiable = True

    def __init__(self, num_classes: int, *, reference: Reference = "predicted", **standard: Any) -> None:
        check_choice("reference", reference, get_args(Reference))
        super().__init__(num_classes, quantity=f"violation_size_{reference}", **standard)
        self.reference = reference

    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:
        return functional.violation_size(log_probs, predicted if self.reference == "predicted" else labels)


@final
class UnimodalRate(SampleMean):
    """Share of posteriors with one peak: they rise strictly to their mode and fall strictly after it.

    See `onepeak.posterior.is_unimodal`.
    """

    def __init__(
        self, num_classes: int, *, tolerance: float = 0.0, definition: Unimodality = "strict", **standard: Any
    ) -> None:
        super().__init__(num_classes, quantity=f"unimodal_{definition}_{tolerance!r}", **standard)
        is_unimodal(torch.empty(0, 2), tolerance, definition=definition)  # checks that the settings fit together
        self.tolerance = tolerance
        self.definition = definition

    def _values(self, log_probs: Tensor, labels: Tensor, predicted: Tensor) -> Tensor:  # noqa: ARG002
        return is_unimodal(log_probs, self.tolerance, definition=self.definition)
