"""How good the probabilities are: proper scores and calibration."""

import torch
from torch import Tensor

from onepeak._check import check_integer, check_labels
from onepeak._precision import full_precision
from onepeak._shapes import Labels, LogProbs, PerSample, Scalar
from onepeak.errors import InputError
from onepeak.metrics.functional.confusion import as_weights
from onepeak.posterior._check import check_log_probs
from onepeak.posterior.reliability_bins import bin_sums


def negative_log_likelihood(log_probs: LogProbs, labels: Labels) -> PerSample:
    r"""The surprise at the true label, in nats: :math:`-\log p_y`.

    Range 0 to infinity, lower is better; infinite where the true label was given no probability at all.

    Args:
        log_probs: Log-probabilities of the classes.
        labels: True labels.

    Returns:
        One number a sample.

    Example:
        >>> negative_log_likelihood(torch.tensor([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]).log(), torch.tensor([0, 1]))
        tensor([0.6931, 0.0000])
    """
    check_log_probs(log_probs)
    check_labels(labels, log_probs.shape[-1], log_probs.shape[:-1])
    at_label = full_precision(log_probs).gather(-1, labels.long().unsqueeze(-1)).squeeze(-1)
    # rounding can leave a log-probability a hair above zero; `0 -` rather than `-`, since a perfect score is 0, not -0
    return 0 - at_label.clamp(max=0)


def ranked_probability_score(log_probs: LogProbs, labels: Labels) -> PerSample:
    r"""Squared distance of the cumulative distribution from that of the true label, summed over the thresholds.

    .. math:: \mathrm{RPS} = \sum_{k=0}^{c-2} \big( P(Y \le k) - [y \le k] \big)^2

    Range 0 to c - 1, lower is better. It is the sum, as in weather forecasting and in dlordinal; some divide by the
    c - 1 thresholds. For c = 2 it is the Brier score of one class. Of a posterior that puts all on one label it is the
    absolute error.

    Args:
        log_probs: Log-probabilities of the classes.
        labels: True labels.

    Returns:
        One number a sample.

    Example:
        >>> ranked_probability_score(torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]).log(), torch.tensor([0, 0]))
        tensor([0.3125, 2.0000])

    Reference: Epstein 1969, A scoring system for probability forecasts of ranked categories.
    """
    check_log_probs(log_probs)
    check_labels(labels, log_probs.shape[-1], log_probs.shape[:-1])
    probs = full_precision(log_probs).exp()
    # The part of the distribution on the wrong side of each threshold; each tail is summed from its own end, so that
    # a small one is not the rounding of one minus a large one.
    at_or_below = probs.cumsum(dim=-1)[..., :-1]
    above = probs.flip(-1).cumsum(dim=-1).flip(-1)[..., 1:]
    thresholds = torch.arange(probs.shape[-1] - 1, device=labels.device)
    wrong_side = torch.where(thresholds < labels.unsqueeze(-1), at_or_below, above)
    return wrong_side.square().sum(dim=-1)


def earth_mover_distance(log_probs: LogProbs, truth: Labels | LogProbs) -> PerSample:
    r"""How many classes the probability has to be moved, on average, to become the truth.

    .. math:: \mathrm{EMD} = \sum_{k=0}^{c-2} \big| P(Y \le k) - Q(Y \le k) \big|

    the distance of two cumulative distributions. Where the truth :math:`Q` is a label, all moves there, and it is the
    expected absolute error :math:`\sum_k p_k |k - y|`. Range 0 to c - 1, lower is better. Of labels it is no proper
    score: all on the median beats the right distribution, which `ranked_probability_score` does not allow.

    Args:
        log_probs: Log-probabilities of the classes.
        truth: True labels; or log-probabilities that are true, where the distribution itself is known.

    Returns:
        One number a sample.

    Example:
        >>> earth_mover_distance(torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]).log(), torch.tensor([0, 0]))
        tensor([0.7500, 2.0000])

    Reference: Rubner, Tomasi, Guibas 2000, The earth mover's distance as a metric for image retrieval.
    """
    check_log_probs(log_probs)
    probs = full_precision(log_probs).exp()
    if isinstance(truth, Tensor) and truth.is_floating_point():
        check_log_probs(truth, log_probs.shape[-1], name="truth")
        if truth.shape != log_probs.shape:
            raise InputError(f"`truth` must have shape {tuple(log_probs.shape)}, got {tuple(truth.shape)}.")
        return (probs - truth.to(probs).exp()).cumsum(dim=-1)[..., :-1].abs().sum(dim=-1)
    check_labels(truth, log_probs.shape[-1], log_probs.shape[:-1], name="truth")
    distances = (torch.arange(probs.shape[-1], device=truth.device) - truth.unsqueeze(-1)).abs()
    return (probs * distances).sum(dim=-1)


def expected_calibration_error(
    log_probs: LogProbs, labels: Labels, *, num_bins: int = 15, sample_weight: PerSample | None = None
) -> Scalar:
    r"""Mean gap between how sure the posterior is of its mode and how often the mode is right.

    .. math:: \sum_b \frac{n_b}{n} \, \big| \mathrm{confidence}_b - \mathrm{accuracy}_b \big|

    over bins of equal width of the mode's probability. Range 0 to 1, lower is better; nan without samples.

    Args:
        log_probs: Log-probabilities of the classes.
        labels: True labels.
        num_bins: The number of bins between 0 and 1.
        sample_weight: How often each sample counts.

    Example:
        >>> log_probs = torch.tensor([[0.75, 0.25], [0.25, 0.75]]).log()
        >>> round(expected_calibration_error(log_probs, torch.tensor([0, 0])).item(), 4)
        0.25

    Reference: Guo et al. 2017, On calibration of modern neural networks.
    """
    return calibration_error(calibration_bins(log_probs, labels, num_bins=num_bins, sample_weight=sample_weight))


def calibration_bins(
    log_probs: LogProbs, labels: Labels, *, num_bins: int, sample_weight: PerSample | None = None
) -> Tensor:
    """For every bin of confidence: how many samples, their confidence and their hits, summed (bins x 3, float64)."""
    check_log_probs(log_probs)
    check_labels(labels, log_probs.shape[-1], log_probs.shape[:-1])
    check_integer("num_bins", num_bins, minimum=1)
    weights = as_weights(sample_weight, labels)
    log_confidence, mode = log_probs.double().max(dim=-1)
    confidence = log_confidence.exp().clamp(max=1)
    return bin_sums(confidence, mode == labels, weights, num_bins=num_bins)


def calibration_error(bins: Tensor) -> Scalar:
    """The expected calibration error of the sums that `calibration_bins` gives."""
    count, confidence, hits = bins.unbind(dim=-1)
    return (confidence - hits).abs().sum() / count.sum()
