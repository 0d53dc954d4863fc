"""Ties broken by the least that floating-point numbers can differ."""

import torch
from torch import Tensor

from onepeak._shapes import Labels, LogProbs


def break_ties(log_probs: LogProbs, peak: Labels, *, by_pairs: bool = False) -> LogProbs:
    """Rows that never rise away from their peak, changed where it takes to fall strictly, with the same sum.

    From the peak outwards, a log-probability that is not below its inner neighbour x becomes x (1 + eps), with eps the
    `torch.finfo` of the dtype: the next number below x, or the one after that. What the row loses by this it is given
    beforehand, in equal parts of log-probability.

    Args:
        log_probs: Finite, at most zero, nowhere rising away from the peak.
        peak: The class to fall away from.
        by_pairs: Whether to compare all pairs of classes, in few operations but c^2 memory, for tracing.

    Example:
        >>> strict = break_ties(torch.full((4,), 0.25).log(), torch.tensor(1))
        >>> bool((strict.diff() * torch.tensor([1, -1, -1]) > 0).all()), round(strict.exp().sum().item(), 6)
        (True, 1.0)
    """
    lower = _lower_by_pairs if by_pairs else _lower
    probs = log_probs.exp()
    total = probs.sum(dim=-1, keepdim=True)
    lost = -(probs * (lower(log_probs, peak) - log_probs).expm1()).sum(dim=-1, keepdim=True)
    return lower(log_probs + (total / (total - lost)).log(), peak)


def _lower(log_probs: Tensor, peak: Tensor) -> Tensor:
    """Each class brought below its inner neighbour, one after the other."""
    step = 1 + torch.finfo(log_probs.dtype).eps
    classes = list(log_probs.movedim(-1, 0).contiguous())
    pairs = list(zip(range(len(classes) - 1), range(1, len(classes)), strict=True))
    for inner, outer in pairs:
        below = torch.minimum(classes[outer], classes[inner] * step)
        classes[outer] = torch.where(outer > peak, below, classes[outer])
    for outer, inner in reversed(pairs):
        below = torch.minimum(classes[outer], classes[inner] * step)
        classes[outer] = torch.where(outer < peak, below, classes[outer])
    return torch.stack(classes, dim=-1)


def _lower_by_pairs(log_probs: Tensor, peak: Tensor) -> Tensor:
    """Each class brought n double steps below every class that is n places further in."""
    place = torch.arange(log_probs.shape[-1], device=log_probs.device)
    outer, peak = place.unsqueeze(-1), peak[..., None, None]
    between = ((peak <= place) & (place <= outer)) | ((outer <= place) & (place <= peak))
    # 1 + 2 n eps is exact, and these multiples of a number lie more than its last digit apart, so that none round alike
    step = 1 + 2 * torch.finfo(log_probs.dtype).eps * (place - outer).abs().to(log_probs.dtype)
    return torch.where(between, log_probs.unsqueeze(-2) * step, torch.inf).amin(dim=-1)
