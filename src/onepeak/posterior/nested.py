"""Nested intervals of labels that grow from the mode."""

import torch
from torch import Tensor

from onepeak._shapes import Intervals, LogProbs, Scores
from onepeak.posterior._check import check_log_probs


def nested_scores(log_probs: LogProbs, *, own: bool = False) -> Scores:
    r"""How late each label joins an interval that grows from the mode.

    The interval always adds its more probable neighbour next. If both are equal, neither counts as inside before the
    other. The score of a label is the probability inside the interval before the label joins, written as

    .. math:: s_k = - \log \big( 1 - P(\text{interval before } k) \big)

    so that even an overconfident posterior, whose intervals all hold 1 - 1e-20, has distinct scores. The mode has
    score 0 and a label of probability 0 has score infinity. Scores rise away from the mode, so the labels up to any
    score form an interval. If the posterior has one peak, it is the highest-density set.

    Args:
        log_probs: Log-probabilities of the classes.
        own: Whether to count a label's own probability as inside; the mode then has a score above 0.

    Returns:
        One score per class, in float64.

    Example:
        >>> nested_scores(torch.tensor([0.1, 0.6, 0.25, 0.05]).log().double()).neg().exp()
        tensor([0.1500, 1.0000, 0.4000, 0.0500], dtype=torch.float64)
    """
    check_log_probs(log_probs)
    # MPS has no float64, without which the sums of small tails could not separate labels
    place = torch.device("cpu") if log_probs.device.type == "mps" else log_probs.device
    scores = log_probs.detach().to(place, torch.float64).log_softmax(dim=-1)
    mode = scores.argmax(dim=-1, keepdim=True)
    labels = torch.arange(scores.shape[-1], device=place)
    # A label joins right after the lowest label between the mode and itself, whose height is its level. Before it
    # joins, the interval holds its own side up to it and, on the other side, the labels of a higher level.
    rising = scores.masked_fill(labels > mode, torch.inf).flip(-1).cummin(dim=-1).values.flip(-1)
    falling = scores.masked_fill(labels < mode, torch.inf).cummin(dim=-1).values
    levels = torch.minimum(rising, falling)
    higher_left = torch.searchsorted(rising.contiguous(), levels, right=True).minimum(mode)
    higher_right = scores.shape[-1] - torch.searchsorted(falling.flip(-1).contiguous(), levels, right=True)
    first = torch.where(labels < mode, labels + (not own), higher_left)
    after_last = torch.where(labels > mode, labels + own, higher_right.maximum(mode + 1))
    nothing = torch.full_like(scores[..., :1], -torch.inf)
    below = torch.cat([nothing, scores.logcumsumexp(dim=-1)], dim=-1).gather(-1, first)
    above = torch.cat([scores.flip(-1).logcumsumexp(dim=-1).flip(-1), nothing], dim=-1).gather(-1, after_last)
    outside = torch.logaddexp(below, above).clamp(max=0)
    return 0 - (outside if own else outside.masked_fill(labels == mode, 0.0))


def intervals_within(log_probs: LogProbs, thresholds: float | Tensor, *, own: bool = False) -> Intervals:
    """The labels whose score does not exceed the threshold, as [lower, upper]. Without `own`, they include the mode.

    Args:
        log_probs: Log-probabilities of the classes.
        thresholds: One for all classes, or one per class. With different thresholds the labels may have gaps, which the
            interval fills.
        own: As in `nested_scores`. An empty interval is then [mode, mode - 1], of length 0.

    Example:
        >>> intervals_within(torch.tensor([0.1, 0.6, 0.25, 0.05]).log(), 1.0)
        tensor([1, 2])
    """
    scores = nested_scores(log_probs, own=own)
    labels = torch.arange(scores.shape[-1], device=scores.device)
    left_out = scores > torch.as_tensor(thresholds, dtype=scores.dtype, device=scores.device).clamp(min=0)
    lower = labels.masked_fill(left_out, scores.shape[-1]).amin(dim=-1)
    upper = labels.masked_fill(left_out, -1).amax(dim=-1)
    intervals = torch.stack([lower, upper], dim=-1).to(log_probs.device)
    if own:
        mode = log_probs.argmax(dim=-1)
        empty = torch.stack([mode, mode - 1], dim=-1)
        intervals = torch.where(left_out.all(dim=-1, keepdim=True).to(log_probs.device), empty, intervals)
    return intervals
