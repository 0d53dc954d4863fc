"""Breaks ties by the smallest difference of floating-point numbers."""

import torch
from torch import Tensor

from onepeak._shapes import Labels, LogProbs
from onepeak.posterior.scan import scan


def break_ties(log_probs: LogProbs, peak: Labels, *, traced: bool = False) -> LogProbs:
    """Makes rows that never rise away from their peak fall strictly, and keeps their sum.

    From the peak outwards, a log-probability that is not below its inner neighbour becomes the next float below that
    neighbour. To keep the sum, all log-probabilities are first raised by the same amount.

    Args:
        log_probs: Finite, at most zero, never rising away from the peak.
        peak: The class to fall away from.
        traced: Whether to use only arithmetic. This takes O(c^2) memory, and steps two to four times as large.

    Example:
        >>> strict = break_ties(torch.full((4,), 0.25).log(), torch.tensor(1))
        >>> bool((strict.diff() * torch.tensor([1, -1, -1]) > 0).all()), round(strict.exp().sum().item(), 6)
        (True, 1.0)
    """
    lower = _lower_by_arithmetic if traced else _lower
    probs = log_probs.exp()
    total = probs.sum(dim=-1, keepdim=True)
    lost = -(probs * (lower(log_probs, peak) - log_probs).expm1()).sum(dim=-1, keepdim=True)
    return lower(log_probs + (total / (total - lost)).log(), peak)


def _lower(log_probs: Tensor, peak: Tensor) -> Tensor:
    """Lowers each class at least n floats below every class n places closer to the peak."""
    integer = torch.int32 if log_probs.dtype == torch.float32 else torch.int64
    # Non-negative floats are ordered as the integers with the same bits.
    number = log_probs.clamp(max=0).abs().view(integer)
    place = torch.arange(log_probs.shape[-1], device=log_probs.device, dtype=integer)
    peak = peak.unsqueeze(-1)
    before_all = torch.iinfo(integer).min // 2
    right = scan(torch.where(place >= peak, number - place, before_all), torch.maximum) + place
    left = scan(torch.where(place <= peak, number + place, before_all).flip(-1), torch.maximum).flip(-1) - place
    lowered = -torch.where(place > peak, right, left).view(log_probs.dtype)
    return torch.where(place == peak, log_probs, lowered)


def _lower_by_arithmetic(log_probs: Tensor, peak: Tensor) -> Tensor:
    """The same by n relative steps of 2 eps."""
    place = torch.arange(log_probs.shape[-1], device=log_probs.device)
    outer, peak = place.unsqueeze(-1), peak[..., None, None]
    between = ((peak <= place) & (place <= outer)) | ((outer <= place) & (place <= peak))
    # 1 + 2 n eps is exact, and its products with a value, over n, are more than one unit in the last place apart
    step = 1 + 2 * torch.finfo(log_probs.dtype).eps * (place - outer).abs().to(log_probs.dtype)
    return torch.where(between, log_probs.unsqueeze(-2) * step, torch.inf).amin(dim=-1)
