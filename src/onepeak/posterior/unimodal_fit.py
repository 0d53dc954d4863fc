"""Unimodal regression: the best rise to a class and fall after it, and the class where that is."""

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
    """The nearest one-peaked row of each row, ties broken, and whether a block of the fit starts at each class.

    Args:
        log_probs: Log-probabilities in single or double precision.
        mode: The class of the peak; the best one if None.
        distance: By which the best is found.
        by_pairs: Whether to look at all pairs of classes in few operations, rather than to go along the classes.

    Example:
        >>> unimodal_fit(torch.tensor([[0.4, 0.15, 0.3, 0.15]]).log(), None, "squared", by_pairs=False)[1]
        tensor([[ True,  True, False,  True]])
    """
    # Sums over many classes and differences of distances want double precision, which Apple's GPUs do not have.
    values = log_probs.to(torch.float32 if log_probs.device.type == "mps" else torch.float64)
    values = values.clamp(min=NO_PROBABILITY)

    fit_prefixes = prefix_fits_by_pairs if by_pairs else prefix_fits
    means, costs = fit_prefixes(torch.stack([values, values.flip(-1)]), distance)
    rise, fall = means[0], means[1].flip(-1)
    place = torch.arange(values.shape[-1], device=values.device)
    if mode is None:
        # A rise up to any class and a fall from the next one on have one peak between them, on either side of the cut.
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
    """The fit to the classes that rise and to those that fall, from the last blocks of their prefixes; else inf."""
    rising = scan(torch.where(rises, rise, torch.inf).flip(-1), torch.minimum).flip(-1)
    falling = scan(torch.where(falls, fall, torch.inf), torch.minimum)
    return torch.minimum(rising, falling)


def _height_at(values: Tensor, mode: Tensor, fit: Tensor) -> Tensor:
    """How high the fit is at its peak: the highest mean of the mode with any number of the highest classes.

    The other classes are then fitted as they were without the mode, but no higher than this.
    """
    at_mode = mode.unsqueeze(-1)
    own = values.gather(-1, at_mode)
    others = fit.scatter(-1, at_mode, 2 * NO_PROBABILITY).sort(dim=-1, descending=True).values
    sums = scan(torch.cat([own, others], dim=-1), add_in_log)
    counts = torch.arange(1, sums.shape[-1] + 1, device=sums.device).to(sums.dtype)
    return (sums - counts.log()).amax(dim=-1, keepdim=True)


def _peak(values: Tensor, fit: Tensor) -> Tensor:
    """Of the classes that share the top: the most probable, then the nearest to their middle, then the lowest."""
    place = torch.arange(fit.shape[-1], device=fit.device).to(fit.dtype)
    top = fit == fit.amax(dim=-1, keepdim=True)
    own = torch.where(top, values, -torch.inf)
    most_probable = own == own.amax(dim=-1, keepdim=True)
    middle = (place * top).sum(dim=-1, keepdim=True) / top.sum(dim=-1, keepdim=True)
    return torch.where(most_probable, (place - middle).abs(), torch.inf).argmin(dim=-1)
