"""How far the predicted labels are from the true ones, in classes."""

import torch
from torch import Tensor

from onepeak._core.check import check_integer, check_labels, readable
from onepeak._core.tensors import Labels, LogProbs, PerClass, PerSample, Scalar, full_precision
from onepeak.errors import InputError
from onepeak.metrics.functional.confusion_matrix import (
    as_weights,
    class_distances,
    confusion_matrix,
    total_weight,
    weighted_sum,
)
from onepeak.posterior import median


def mean_absolute_error(predicted: Labels, labels: Labels, *, sample_weight: PerSample | None = None) -> Scalar:
    r"""Mean distance of the predicted label from the true one, in classes: :math:`\frac1n \sum_i |\hat y_i - y_i|`.

    Range 0 to c - 1, lower is better; nan without samples.

    Example:
        >>> mean_absolute_error(torch.tensor([0, 3, 2]), torch.tensor([0, 1, 2])).item()
        0.6666666666666666
    """
    return _weighted_mean(_distances(predicted, labels), labels, sample_weight)


def absolute_error_of_median(log_probs: LogProbs, labels: Labels) -> PerSample:
    """Distance of the posterior's median from the true label, in classes, whatever label was predicted.

    Range 0 to c - 1, lower is better. The median minimises the expected absolute error, so that methods that decide by
    different rules are compared by their posteriors alone.

    Example:
        >>> absolute_error_of_median(torch.tensor([[0.4, 0.3, 0.3], [0.0, 0.0, 1.0]]).log(), torch.tensor([0, 0]))
        tensor([1., 2.])
    """
    check_labels(labels, log_probs.shape[-1], log_probs.shape[:-1])
    return (median(log_probs) - labels.long()).abs().to(full_precision(log_probs).dtype)


def root_mean_squared_error(predicted: Labels, labels: Labels, *, sample_weight: PerSample | None = None) -> Scalar:
    r"""Root of the mean squared distance, in classes: :math:`\sqrt{\frac1n \sum_i (\hat y_i - y_i)^2}`.

    Range 0 to c - 1, lower is better; nan without samples. Never below the mean absolute error: far errors weigh more.

    Example:
        >>> root_mean_squared_error(torch.tensor([0, 3, 2, 3]), torch.tensor([0, 1, 2, 3])).item()
        1.0
    """
    return _weighted_mean(_distances(predicted, labels).square(), labels, sample_weight).sqrt()


def accuracy(predicted: Labels, labels: Labels, *, sample_weight: PerSample | None = None) -> Scalar:
    """Share of samples whose predicted label is the true one.

    Range 0 to 1, higher is better; nan without samples.

    Example:
        >>> accuracy(torch.tensor([0, 3, 2, 1]), torch.tensor([0, 1, 2, 1])).item()
        0.75
    """
    return accuracy_within(predicted, labels, k=0, sample_weight=sample_weight)


def accuracy_within(predicted: Labels, labels: Labels, *, k: int = 1, sample_weight: PerSample | None = None) -> Scalar:
    """Share of samples whose predicted label is at most `k` classes from the true one.

    Range 0 to 1, higher is better; nan without samples. Equals accuracy for k = 0; called cumulative score in age
    estimation.

    Example:
        >>> accuracy_within(torch.tensor([0, 3, 2, 0]), torch.tensor([0, 1, 2, 1]), k=1).item()
        0.75
    """
    check_integer("k", k, minimum=0)
    return _weighted_mean(_distances(predicted, labels) <= k, labels, sample_weight)


def average_mean_absolute_error(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Scalar:
    """The mean absolute error of each class, averaged over the classes, so that every class counts the same.

    Range 0 to c - 1, lower is better. Classes without a true sample are left out; nan without samples.

    Example:
        >>> average_mean_absolute_error(torch.tensor([0, 0, 0, 3]), torch.tensor([0, 0, 0, 1]), num_classes=4).item()
        1.0

    Reference: Baccianella, Esuli and Sebastiani 2009, Evaluation measures for ordinal regression.
    """
    return _errors_by_class(predicted, labels, num_classes, sample_weight).nanmean()


def maximum_mean_absolute_error(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Scalar:
    """The mean absolute error of the worst class.

    Range 0 to c - 1, lower is better. Classes without a true sample are left out; nan without samples.

    Example:
        >>> maximum_mean_absolute_error(torch.tensor([0, 0, 0, 3]), torch.tensor([0, 0, 0, 1]), num_classes=4).item()
        2.0

    Reference: Cruz-Ramirez et al. 2014, Metrics to guide a multi-objective evolutionary algorithm.
    """
    errors = _errors_by_class(predicted, labels, num_classes, sample_weight)
    largest = errors.nan_to_num(nan=-1.0).max()
    return torch.where(largest >= 0, largest, torch.nan)


def _distances(predicted: Labels, labels: Labels) -> Tensor:
    """Returns the distances in classes. The number of classes is not known here, so only the lower end is checked."""
    shape = getattr(labels, "shape", torch.Size())
    for name, given in (("labels", labels), ("predicted", predicted)):
        if isinstance(given, Tensor) and readable(given) and given.numel() and given.min() < 0:
            raise InputError(f"`{name}` must be integers >= 0, got {given.min().item()}.")
        check_labels(given, torch.iinfo(torch.int64).max, shape, name=name)
    return (predicted.long() - labels.long()).abs()


def _weighted_mean(values: Tensor, labels: Labels, sample_weight: PerSample | None) -> Scalar:
    """Returns the mean over samples; without samples it is 0 / 0, which is nan."""
    weights = None if sample_weight is None else as_weights(sample_weight, labels)
    return weighted_sum(values, weights) / total_weight(labels, weights)


def _errors_by_class(predicted: Labels, labels: Labels, num_classes: int, sample_weight: PerSample | None) -> PerClass:
    """Returns the mean absolute error of each true class; nan for a class without samples."""
    table = confusion_matrix(predicted, labels, num_classes=num_classes, sample_weight=sample_weight)
    return (table * class_distances(table)).sum(dim=-1) / table.sum(dim=-1)
