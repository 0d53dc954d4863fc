"""Projection onto the nearest posterior with one peak."""

import math
from collections.abc import Callable
from typing import get_args

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._core.check import check_choice, check_labels, check_log_probs, in_plain_eager, launches_freely
from onepeak._core.tensors import Labels, LogProbs
from onepeak.constraints.gaps import signed_gaps
from onepeak.posterior.isotonic import (
    NO_PROBABILITY,
    Distance,
    add_in_log,
    break_ties,
    prefix_fits,
    prefix_fits_by_pairs,
    scan,
)

MOST_PAIRS = {"cpu": 1 << 16, "cuda": 1 << 23}
"""Up to this many rows x classes^2, all pairs of classes are compared, which takes the fewest operations."""

PIECE = {"cpu": 1 << 20, "cuda": 1 << 24}
"""Beyond that, rows x classes processed at a time; each takes about a hundred bytes of memory."""


def project(log_probs: LogProbs, mode: Labels | None = None, *, distance: Distance = "squared") -> LogProbs:
    r"""The nearest posterior with one peak: rising strictly up to a class and falling strictly after it.

    .. math:: \min_q \sum_k (p_k - q_k)^2 \quad\text{or}\quad \min_q \sum_k p_k \log \frac{p_k}{q_k} \qquad
              q_0 \le \dots \le q_m \ge \dots \ge q_{c-1}, \quad \sum_k q_k = 1

    For a given peak m both problems have the same solution, an isotonic regression: stretches of classes that go the
    wrong way are replaced by their mean, which keeps the sum. (Such a fit minimises every Bregman divergence of the
    data from the fit: Barlow and Brunk 1972.) The best peak depends on the distance. All peaks are compared, in O(c)
    operations per row. The minimum is exact up to rounding in float64.

    Ties in the solution are then broken by the smallest step of the dtype: the log-probability of the outer class
    becomes the next float below that of the inner class. The relative change is at most 1.2e-7 in float32 and 2.2e-16
    in float64, or up to four times that when compiled or exported. The row keeps its sum. A class of probability 0 gets
    the smallest normal number of the dtype, 1e-38 or 2e-308.

    - A row that already has one strict peak is returned unchanged, bit for bit, so projecting twice changes nothing.
    - If several classes share the top, the peak is the one that was most probable, then the one nearest to the middle
      of the top, then the lowest. If different solutions are equally near, the one with the lowest peak is returned.
      So the projection of a mirrored row is the mirrored projection, unless two solutions are equally near.
    - The gradient is that of the solution: the gradient of each class is spread over its stretch, in proportion to the
      probabilities.

    Args:
        log_probs: Log-probabilities, any leading shape. Half precision is converted to float32 and normalised.
        mode: The class where each row must peak. Default: the best one.
        distance: "squared" or "kl", the criterion for the best peak. It has no effect if `mode` is given.

    Returns:
        Log-probabilities of the same shape.

    Example:
        >>> two_bumps = torch.tensor([0.1, 0.4, 0.1, 0.3, 0.1]).log()
        >>> project(two_bumps).exp()
        tensor([0.1000, 0.4000, 0.2000, 0.2000, 0.1000])
        >>> project(two_bumps, torch.tensor(3)).exp()
        tensor([0.1000, 0.2500, 0.2500, 0.3000, 0.1000])

    References:
        Stout, "Unimodal regression via prefix isotonic regression", Computational Statistics & Data Analysis 53, 2008.
        Barlow, Brunk, "The isotonic regression problem and its dual", Journal of the American Statistical Association
        67, 1972.
    """
    check_log_probs(log_probs)
    check_choice("distance", distance, get_args(Distance))
    if mode is not None:
        check_labels(mode, log_probs.shape[-1], log_probs.shape[:-1], name="mode")
        mode = mode.long()
    if log_probs.dtype.itemsize < 4:
        log_probs = log_probs.float().log_softmax(dim=-1)
    with torch.no_grad():
        nearest, starts = _nearest(log_probs.detach(), mode, distance, training=log_probs.requires_grad)
    in_transform = not (in_plain_eager() or torch.compiler.is_compiling())  # forward mode sets no requires_grad
    if log_probs.requires_grad or in_transform:
        return with_block_gradient(log_probs, nearest, starts)
    return nearest


def _nearest(
    log_probs: LogProbs, mode: Labels | None, distance: Distance, *, training: bool
) -> tuple[LogProbs, Tensor]:
    """The projection, and whether a block of the fit starts at each class."""
    done = (signed_gaps(log_probs, log_probs.argmax(dim=-1) if mode is None else mode) < 0).all(dim=-1, keepdim=True)
    num_classes, device = log_probs.shape[-1], log_probs.device.type
    # Stepping along the classes synchronises, which is impossible while a training step is captured as a CUDA graph.
    # Training steps that are not captured avoid it as well, so both give the same bits.
    waits = launches_freely(log_probs) and not (training and log_probs.is_cuda)
    if not waits or log_probs.numel() * num_classes <= MOST_PAIRS[device]:
        fit, starts = unimodal_fit(log_probs, mode, distance, by_pairs=True)
        return torch.where(done, log_probs, fit), starts | done

    nearest = log_probs.reshape(-1, num_classes).clone()
    starts = torch.ones_like(nearest, dtype=torch.bool)
    for rows in (~done).view(-1).nonzero().squeeze(-1).split(max(1, PIECE[device] // num_classes)):
        modes = None if mode is None else mode.reshape(-1)[rows]
        nearest[rows], starts[rows] = unimodal_fit(nearest[rows], modes, distance, by_pairs=False)
    return nearest.view_as(log_probs), starts.view_as(log_probs)


def unimodal_fit(
    log_probs: LogProbs, mode: Labels | None, distance: Distance, *, by_pairs: bool
) -> tuple[LogProbs, Tensor]:
    """The nearest one-peaked row for each row, with ties broken, and whether a block of the fit starts at each class.

    With `by_pairs` all pairs of classes are compared in few operations, instead of stepping along the classes.
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


def with_block_gradient(log_probs: LogProbs, fitted: LogProbs, starts: Tensor) -> LogProbs:
    r"""The fitted values as a differentiable function of the log-probabilities.

    The value of a block B is :math:`\log \frac1{|B|} \sum_{i \in B} e^{x_i}`, whose derivative by :math:`x_i` is the
    share of i in the probability of the block. The gradient ignores the breaking of ties.
    """
    values = log_probs.clamp(min=NO_PROBABILITY)
    highest = over_blocks(values.detach(), starts, torch.maximum)
    log_sums = over_blocks((values - highest).exp(), starts, torch.add).log()
    return fitted + (log_sums - log_sums.detach())  # adds zero, with a gradient


def over_blocks(values: Tensor, starts: Tensor, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """For each class, the combination of all values of its block.

    The order of operations is fixed, unlike that of a scatter on a GPU, so results are reproducible.

    Example:
        >>> over_blocks(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True]), torch.add)
        tensor([3., 3., 4.])
    """
    num_classes = values.shape[-1]
    place = torch.arange(num_classes, device=values.device)
    first = scan(torch.where(starts, place, 0), torch.maximum)
    stops = F.pad(starts[..., 1:], (0, 1), value=True)
    last = scan(torch.where(stops, place, num_classes).flip(-1), torch.minimum).flip(-1)
    reach = 1
    while reach < num_classes:
        further = F.pad(values[..., :-reach], (reach, 0))
        values = torch.where(place - reach >= first, combine(values, further), values)
        reach *= 2
    return values.gather(-1, last)
