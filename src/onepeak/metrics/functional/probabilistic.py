"""How good the probabilities are: proper scores and calibration."""

import torch
from torch import Tensor

from onepeak._core.check import check_integer, check_labels, check_log_probs
from onepeak._core.tensors import Labels, LogProbs, PerSample, Scalar, full_precision
from onepeak.errors import InputError
from onepeak.metrics.functional.confusion_matrix import as_weights
from onepeak.posterior.calibrate import bin_sums


def negative_log_likelihood(log_probs: LogProbs, labels: Labels) -> PerSample:
    r"""Negative log-probability of the true label, in nats: :math:`-\log p_y`.

    Range 0 to infinity, lower is better; infinite if the true label has probability zero.

    Example:
        >>> negative_log_likelihood(torch.tensor([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]).log(), torch.tensor([0, 1]))
        tensor([0.6931, 0.0000])
    """
    check_log_probs(log_probs)
    check_labels(labels, log_probs.shape[-1], log_probs.shape[:-1])
    at_label = full_precision(log_probs).gather(-1, labels.long().unsqueeze(-1)).squeeze(-1)
    # Rounding can leave a log-probability slightly above zero. `0 -` rather than `-`: a perfect score is 0, not -0.
    return 0 - at_label.clamp(max=0)


def ranked_probability_score(log_probs: LogProbs, labels: Labels) -> PerSample:
    r"""Squared distance of the cumulative distribution from that of the true label, summed over the thresholds.

    .. math:: \mathrm{RPS} = \sum_{k=0}^{c-2} \big( P(Y \le k) - [y \le k] \big)^2

    Range 0 to c - 1, lower is better. It is the sum, as in weather forecasting and in dlordinal; some definitions
    divide by the c - 1 thresholds. For c = 2 it is the Brier score of one class. For a posterior with all probability
    on one label it is the absolute error.

    Example:
        >>> ranked_probability_score(torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]).log(), torch.tensor([0, 0]))
        tensor([0.3125, 2.0000])

    Reference: Epstein 1969, A scoring system for probability forecasts of ranked categories.
    """
    check_log_probs(log_probs)
    check_labels(labels, log_probs.shape[-1], log_probs.shape[:-1])
    probs = full_precision(log_probs).exp()
    # The probability on the wrong side of each threshold. Each tail is summed from its own end: one minus a large tail
    # would leave only rounding error for a small one.
    at_or_below = probs.cumsum(dim=-1)[..., :-1]
    above = probs.flip(-1).cumsum(dim=-1).flip(-1)[..., 1:]
    thresholds = torch.arange(probs.shape[-1] - 1, device=labels.device)
    wrong_side = torch.where(thresholds < labels.unsqueeze(-1), at_or_below, above)
    return wrong_side.square().sum(dim=-1)


def earth_mover_distance(log_probs: LogProbs, truth: Labels | LogProbs) -> PerSample:
    r"""Mean distance, in classes, that probability has to move to match the truth.

    .. math:: \mathrm{EMD} = \sum_{k=0}^{c-2} \big| P(Y \le k) - Q(Y \le k) \big|

    the distance between two cumulative distributions. If the truth :math:`Q` is a label, it is the expected absolute
    error :math:`\sum_k p_k |k - y|`. Range 0 to c - 1, lower is better. For labels it is not a proper score: putting
    all probability on the median beats the correct distribution. `ranked_probability_score` is proper.

    Args:
        truth: True labels, or the true log-probabilities if the distribution is known.

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
    r"""Mean gap between the probability of the mode and how often the mode is correct.

    .. math:: \sum_b \frac{n_b}{n} \, \big| \mathrm{confidence}_b - \mathrm{accuracy}_b \big|

    over `num_bins` bins of equal width in the probability of the mode, whatever label was predicted. Range 0 to 1,
    lower is better; nan without samples.

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
    """Sums the weights, confidences and hits of the samples in every bin of confidence (bins x 3, float64)."""
    check_log_probs(log_probs)
    check_labels(labels, log_probs.shape[-1], log_probs.shape[:-1])
    check_integer("num_bins", num_bins, minimum=1)
    weights = None if sample_weight is None else as_weights(sample_weight, labels)
    log_confidence, mode = log_probs.max(dim=-1)
    confidence = log_confidence.double().exp().clamp(max=1)
    return bin_sums(confidence, mode == labels, weights, num_bins=num_bins)


def calibration_error(bins: Tensor) -> Scalar:
    """Returns the mean gap of the sums from `calibration_bins` or `class_bins`."""
    count, confidence, hits = bins.unbind(dim=-1)
    return (confidence - hits).abs().sum() / count.sum()


def static_calibration_error(
    log_probs: LogProbs, labels: Labels, *, num_bins: int = 15, sample_weight: PerSample | None = None
) -> Scalar:
    r"""Mean gap between the probability of a class and how often it is true, averaged over all classes.

    .. math:: \frac1c \sum_{k=0}^{c-1} \sum_b \frac{n_{kb}}{n} \, \big| \mathrm{probability}_{kb} -
              \mathrm{frequency}_{kb} \big|

    over `num_bins` bins of equal width in the probability of each class. Range 0 to 1, lower is better; nan without
    samples. With many classes most probabilities are near zero and so is the error: compare it on one scale only.

    Example:
        >>> log_probs = torch.tensor([[0.75, 0.25], [0.25, 0.75]]).log()
        >>> round(static_calibration_error(log_probs, torch.tensor([0, 0])).item(), 4)  # of .25, .75, .75 and .25
        0.5

    Reference: Nixon et al. 2019, Measuring calibration in deep learning.
    """
    return calibration_error(class_bins(log_probs, labels, num_bins=num_bins, sample_weight=sample_weight))


def class_bins(log_probs: LogProbs, labels: Labels, *, num_bins: int, sample_weight: PerSample | None = None) -> Tensor:
    """Sums the weights, probabilities and hits in every bin of every class (classes * bins x 3, float64)."""
    check_log_probs(log_probs)
    num_classes = log_probs.shape[-1]
    check_labels(labels, num_classes, log_probs.shape[:-1])
    check_integer("num_bins", num_bins, minimum=1)
    probs = log_probs.double().exp().clamp(max=1)
    happened = torch.arange(num_classes, device=labels.device) == labels.unsqueeze(-1)
    weights = as_weights(sample_weight, labels).unsqueeze(-1).expand(probs.shape)
    return bin_sums(probs, happened, weights, num_bins=num_bins, num_kinds=num_classes)


def adaptive_calibration_error(
    log_probs: LogProbs, labels: Labels, *, num_ranges: int = 15, sample_weight: PerSample | None = None
) -> Scalar:
    r"""The static calibration error in ranges that hold equally many samples, instead of bins of equal width.

    .. math:: \frac1{c R} \sum_{k=0}^{c-1} \sum_{r=1}^{R} \big| \mathrm{probability}_{kr} -
              \mathrm{frequency}_{kr} \big|

    where the ranges of class k cut the samples in the order of its probability into R parts of equal weight; a sample
    between two parts counts in both, by its shares. Range 0 to 1, lower is better; nan without samples. It needs all
    samples at once and cannot be added up over batches, so that it has no torchmetrics class.

    Example:
        >>> log_probs = torch.tensor([[0.75, 0.25], [0.25, 0.75]]).log()
        >>> round(adaptive_calibration_error(log_probs, torch.tensor([0, 1]), num_ranges=2).item(), 4)
        0.25

    Reference: Nixon et al. 2019, Measuring calibration in deep learning.
    """
    check_log_probs(log_probs)
    num_classes = log_probs.shape[-1]
    check_labels(labels, num_classes, log_probs.shape[:-1])
    check_integer("num_ranges", num_ranges, minimum=1)
    probs = log_probs.double().exp().reshape(-1, num_classes)
    happened = (torch.arange(num_classes, device=labels.device) == labels.reshape(-1, 1)).double()
    weights = as_weights(sample_weight, labels).reshape(-1)
    edges = weights.sum() * torch.linspace(0, 1, num_ranges + 1, dtype=torch.float64, device=labels.device)
    gaps = []
    for probs_of_class, happened_of_class in zip(probs.T, happened.T, strict=True):
        order = happened_of_class.argsort(stable=True)  # of equal probabilities first those that did not come true
        order = order[probs_of_class[order].argsort(stable=True)]
        reached = weights[order].cumsum(dim=0).unsqueeze(-1)
        shares = torch.minimum(reached, edges[1:]) - torch.maximum(reached - weights[order].unsqueeze(-1), edges[:-1])
        differences = (probs_of_class - happened_of_class)[order].unsqueeze(-1)
        gaps.append((shares.clamp(min=0) * differences).sum(dim=0).abs().sum())
    return torch.stack(gaps).sum() / (num_classes * weights.sum())
