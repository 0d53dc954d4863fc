"""Whether the predicted labels rank the samples as the true ones do."""

from torch import Tensor

from onepeak._shapes import Labels, PerSample, Scalar
from onepeak.metrics.functional.confusion import confusion_matrix


def kendall_tau(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Scalar:
    r"""Kendall's tau-b: how many more pairs of samples are ranked alike than against each other, ties allowed for.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(P - T_y)(P - T_{\hat y})}}

    over all :math:`P` pairs, :math:`C` of them ranked alike, :math:`D` against each other, :math:`T` tied. Range -1 to
    1, higher is better, 0 is chance; nan where all true or all predicted labels are the same, and without samples.

    Args:
        predicted: Predicted labels.
        labels: True labels.
        num_classes: The number of classes, those that do not occur included.
        sample_weight: How often each sample counts.

    Example:
        >>> import torch
        >>> round(kendall_tau(torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2]), num_classes=3).item(), 4)
        0.8

    Reference: Kendall 1945, The treatment of ties in ranking problems.
    """
    table = confusion_matrix(predicted, labels, num_classes=num_classes, sample_weight=sample_weight)
    # For each cell: what lies in the rows below it, to its right (ranked alike) and to its left (against).
    below = table.sum(dim=0) - table.cumsum(dim=0)
    to_the_left = below.cumsum(dim=1)
    to_the_right = below.sum(dim=1, keepdim=True) - to_the_left
    surplus = (table * (to_the_right - (to_the_left - below))).sum()
    return _correlation(surplus, _untied_pairs(table.sum(dim=1)), _untied_pairs(table.sum(dim=0)))


def spearman_correlation(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Scalar:
    """Spearman's rank correlation: the correlation of the ranks, equal labels sharing their mean rank.

    Range -1 to 1, higher is better, 0 is chance; nan where all true or all predicted labels are the same, and without
    samples.

    Args:
        predicted: Predicted labels.
        labels: True labels.
        num_classes: The number of classes, those that do not occur included.
        sample_weight: How often each sample counts.

    Example:
        >>> import torch
        >>> round(spearman_correlation(torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2]), num_classes=3).item(), 4)
        0.8333
    """
    table = confusion_matrix(predicted, labels, num_classes=num_classes, sample_weight=sample_weight)
    true_counts, predicted_counts = table.sum(dim=1), table.sum(dim=0)
    true_ranks, predicted_ranks = _centred_ranks(true_counts), _centred_ranks(predicted_counts)
    covariance = true_ranks @ table @ predicted_ranks
    return _correlation(
        covariance, (true_counts * true_ranks.square()).sum(), (predicted_counts * predicted_ranks.square()).sum()
    )


def _untied_pairs(counts: Tensor) -> Tensor:
    """The number of pairs of samples that are in two different classes."""
    return (counts * (counts.sum() - counts.cumsum(dim=0))).sum()


def _centred_ranks(counts: Tensor) -> Tensor:
    """The mean rank of the samples of each class, less the mean rank of all."""
    return counts.cumsum(dim=0) - counts / 2 - counts.sum() / 2


def _correlation(covariance: Tensor, variance: Tensor, other_variance: Tensor) -> Tensor:
    """A covariance over the root of two variances; 0 / 0, which is nan, where one of them is zero."""
    # two roots, since the product of two sums over pairs could overflow; clamped, since they round
    return (covariance / (variance.sqrt() * other_variance.sqrt())).clamp(-1, 1)
