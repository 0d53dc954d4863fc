"""From a posterior to a label: each decision is the best one for its own cost."""

from collections.abc import Callable
from types import MappingProxyType

import torch

from onepeak._precision import full_precision
from onepeak._shapes import Labels, LogProbs, PerSample


def mode(log_probs: LogProbs) -> Labels:
    """The most probable label (the lowest of equals): the fewest errors.

    Example:
        >>> mode(torch.tensor([0.4, 0.1, 0.2, 0.3]).log())
        tensor(0)
    """
    return log_probs.argmax(dim=-1)


def median(log_probs: LogProbs) -> Labels:
    """The first label at which half of the probability is reached: the lowest expected absolute error.

    Example:
        >>> median(torch.tensor([0.4, 0.1, 0.2, 0.3]).log())
        tensor(1)
    """
    # Counting labels that leave more than half above them needs no search, and 0.5 exactly stops at the lower label.
    # Both tails are summed: where 1 - cumsum would lose the upper one to rounding, the comparison is of like with like.
    probs = full_precision(log_probs).softmax(dim=-1)
    lower = probs.cumsum(dim=-1)
    upper = probs.flip(-1).cumsum(dim=-1).flip(-1) - probs
    return (lower < upper).sum(dim=-1)


def mean(log_probs: LogProbs) -> Labels:
    """The expected label, rounded (halves upwards): the lowest expected squared error.

    Example:
        >>> mean(torch.tensor([0.4, 0.1, 0.2, 0.3]).log())
        tensor(1)
    """
    return (expected_label(log_probs) + 0.5).floor().long().clamp_(0, log_probs.shape[-1] - 1)


def floor_of_mean(log_probs: LogProbs) -> Labels:
    """The expected label, rounded down: what the published code of Belharbi et al. 2019 takes for MV and PO.

    Half a class too low on average; here only to reproduce its figures.

    Example:
        >>> floor_of_mean(torch.tensor([0.1, 0.0, 0.9]).log())
        tensor(1)
    """
    return expected_label(log_probs).floor().long().clamp_(0, log_probs.shape[-1] - 1)


def expected_label(log_probs: LogProbs) -> PerSample:
    """The mean of the posterior over labels, not rounded.

    Example:
        >>> expected_label(torch.tensor([0.25, 0.25, 0.5]).log())
        tensor(1.2500)
    """
    probs = full_precision(log_probs).softmax(dim=-1)
    labels = torch.arange(log_probs.shape[-1], device=probs.device, dtype=probs.dtype)
    return (probs * labels).sum(dim=-1)  # no matrix product, which autocast would round to half precision


DECISIONS: MappingProxyType[str, Callable[[LogProbs], Labels]] = MappingProxyType(
    {"mode": mode, "median": median, "mean": mean, "floor_of_mean": floor_of_mean}
)
"""The decisions by name."""
