"""Whether the predicted labels rank the samples like the true ones."""

from torch import Tensor

from onepeak._core.tensors import Labels, PerSample, Scalar
from onepeak.metrics.functional.confusion_matrix import confusion_matrix


def kendall_tau(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Scalar:
    r"""Kendall's tau-b: concordant minus discordant pairs of samples, corrected for ties.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(P - T_y)(P - T_{\hat y})}}

    over all :math:`P` pairs, of which :math:`C` are concordant, :math:`D` discordant and :math:`T` tied. Range -1 to 1,
    higher is better, 0 is chance; nan if all true or all predicted labels are the same, or without samples.

    Example:
        >>> import torch
        >>> round(kendall_tau(torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2]), num_classes=3).item(), 4)
        0.8

    Reference: Kendall 1945, The treatment of ties in ranking problems.
    """
    table = confusion_matrix(predicted, labels, num_classes=num_classes, sample_weight=sample_weight)
    # For each cell: the counts in the rows below it, to its right (concordant) and to its left (discordant).
    below = table.sum(dim=0) - table.cumsum(dim=0)
    to_the_left = below.cumsum(dim=1)
    to_the_right = below.sum(dim=1, keepdim=True) - to_the_left
    surplus = (table * (to_the_right - (to_the_left - below))).sum()
    return _correlation(surplus, _untied_pairs(table.sum(dim=1)), _untied_pairs(table.sum(dim=0)))


def spearman_correlation(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Scalar:
    """Spearman's rank correlation: the correlation of the ranks, where equal labels share their mean rank.

    Range -1 to 1, higher is better, 0 is chance; nan if all true or all predicted labels are the same, or without
    samples.

    Example:
        >>> import torch
        >>> round(spearman_correlation(torch.tensor([0, 1, 2, 2]), torch.tensor([0, 1, 1, 2]), num_classes=3).item(), 4)
        0.8333

    Reference: Spearman 1904, The proof and measurement of association between two things.
    """
    table = confusion_matrix(predicted, labels, num_classes=num_classes, sample_weight=sample_weight)
    true_counts, predicted_counts = table.sum(dim=1), table.sum(dim=0)
    true_ranks, predicted_ranks = _centred_ranks(true_counts), _centred_ranks(predicted_counts)
    covariance = true_ranks @ table @ predicted_ranks
    return _correlation(
        covariance, (true_counts * true_ranks.square()).sum(), (predicted_counts * predicted_ranks.square()).sum()
    )


def _untied_pairs(counts: Tensor) -> Tensor:
    """Returns the number of pairs of samples in two different classes."""
    return (counts * (counts.sum() - counts.cumsum(dim=0))).sum()


def _centred_ranks(counts: Tensor) -> Tensor:
    """Returns the mean rank of the samples of each class, minus the mean rank of all samples."""
    return counts.cumsum(dim=0) - counts / 2 - counts.sum() / 2


def _correlation(covariance: Tensor, variance: Tensor, other_variance: Tensor) -> Tensor:
    """Returns a covariance over the root of two variances; 0 / 0, which is nan, if one of them is zero."""
    # Two roots, because the product of two sums over pairs could overflow; clamped, because roots round.
    return (covariance / (variance.sqrt() * other_variance.sqrt())).clamp(-1, 1)
