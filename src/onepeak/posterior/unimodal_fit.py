"""Unimodal regression: the best fit that rises to a peak and falls after it, and the best peak."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._check import in_plain_eager
from onepeak._shapes import Labels, LogProbs
from onepeak.posterior.isotonic import Distance, prefix_fits, prefix_fits_by_pairs
from onepeak.posterior.scan import NO_PROBABILITY, add_in_log, scan
from onepeak.posterior.strict import break_ties


def unimodal_fit(
    log_probs: LogProbs, mode: Labels | None, distance: Distance, *, by_pairs: bool
) -> tuple[LogProbs, Tensor]:
    """The nearest one-peaked row for each row, with ties broken, and whether a block of the fit starts at each class.

    Args:
        log_probs: Log-probabilities in float32 or float64.
        mode: The class of the peak; None: the best one.
        distance: The criterion for the best peak.
        by_pairs: Whether to compare all pairs of classes in few operations, instead of stepping along the classes.

    Example:
        >>> unimodal_fit(torch.tensor([[0.4, 0.15, 0.3, 0.15]]).log(), None, "squared", by_pairs=False)[1]
        tensor([[ True,  True, False,  True]])
    """
    # Sums over many classes and differences of distances need float64, which Apple's GPUs do not have.
    values = log_probs.to(torch.float32 if log_probs.device.type == "mps" else torch.float64)
    values = values.clamp(min=NO_PROBABILITY)

    fit_prefixes = prefix_fits_by_pairs if by_pairs else prefix_fits
    means, costs = fit_prefixes(torch.stack([values, values.flip(-1)]), distance)
    rise, fall = means[0], means[1].flip(-1)
    place = torch.arange(values.shape[-1], device=values.device)
    if mode is None:
        # A rise up to a class and a fall from the next class on form one peak, on either side of the cut.
        cut = (costs[0, ..., :-1] + costs[1, ..., :-1].flip(-1)).argmin(dim=-1, keepdim=True)
        fit = _join(rise, place <= cut, fall, place > cut)
        peak = _peak(values, fit)
    else:
        peak = mode
        fit = _join(rise, place < mode.unsqueeze(-1), fall, place > mode.unsqueeze(-1))
        fit = torch.minimum(fit, _height_at(values, mode, fit))

    starts = F.pad(fit.diff(dim=-1) != 0, (1, 0), value=True)
    smallest = math.log(torch.finfo(log_probs.dtype).tiny)
    fit = torch.where(fit > NO_PROBABILITY / 2, fit, smallest).to(log_probs.dtype)
    return break_ties(fit, peak, traced=not in_plain_eager()), starts


def _join(rise: Tensor, rises: Tensor, fall: Tensor, falls: Tensor) -> Tensor:
    """The fit to the rising and to the falling classes, from the last blocks of their prefixes; infinity elsewhere."""
    rising = scan(torch.where(rises, rise, torch.inf).flip(-1), torch.minimum).flip(-1)
    falling = scan(torch.where(falls, fall, torch.inf), torch.minimum)
    return torch.minimum(rising, falling)


def _height_at(values: Tensor, mode: Tensor, fit: Tensor) -> Tensor:
    """The height of the fit at its peak: the highest mean of the mode and any number of the highest other classes.

    The other classes keep their fit without the mode, capped at this height.
    """
    at_mode = mode.unsqueeze(-1)
    own = values.gather(-1, at_mode)
    others = fit.scatter(-1, at_mode, 2 * NO_PROBABILITY).sort(dim=-1, descending=True).values
    sums = scan(torch.cat([own, others], dim=-1), add_in_log)
    counts = torch.arange(1, sums.shape[-1] + 1, device=sums.device).to(sums.dtype)
    return (sums - counts.log()).amax(dim=-1, keepdim=True)


def _peak(values: Tensor, fit: Tensor) -> Tensor:
    """Among the classes that share the top: the most probable, then the nearest to their middle, then the lowest."""
    place = torch.arange(fit.shape[-1], device=fit.device).to(fit.dtype)
    top = fit == fit.amax(dim=-1, keepdim=True)
    own = torch.where(top, values, -torch.inf)
    most_probable = own == own.amax(dim=-1, keepdim=True)
    middle = (place * top).sum(dim=-1, keepdim=True) / top.sum(dim=-1, keepdim=True)
    return torch.where(most_probable, (place - middle).abs(), torch.inf).argmin(dim=-1)
