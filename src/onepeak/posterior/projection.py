"""The nearest posterior that has one peak."""

from typing import get_args

import torch
from torch import Tensor

from onepeak._check import check_choice, check_labels, in_plain_eager, launches_freely
from onepeak._shapes import Labels, LogProbs
from onepeak.constraints.gaps import signed_gaps
from onepeak.posterior._check import check_log_probs
from onepeak.posterior.blocks import with_block_gradient
from onepeak.posterior.isotonic import Distance
from onepeak.posterior.unimodal_fit import unimodal_fit

MOST_PAIRS = {"cpu": 1 << 16, "cuda": 1 << 23}
"""Rows x classes^2 up to which all pairs of classes are looked at, which takes the fewest operations."""

PIECE = {"cpu": 1 << 20, "cuda": 1 << 24}
"""Rows x classes worked on at a time beyond that; the memory it takes is about a hundred bytes each."""


def project(log_probs: LogProbs, mode: Labels | None = None, *, distance: Distance = "squared") -> LogProbs:
    r"""The nearest posterior with one peak: rising strictly up to a class and falling strictly after it.

    .. math:: \min_q \sum_k (p_k - q_k)^2 \quad\text{or}\quad \min_q \sum_k p_k \log \frac{p_k}{q_k} \qquad
              q_0 \le \dots \le q_m \ge \dots \ge q_{c-1}, \quad \sum_k q_k = 1

    For a given peak m both have one and the same solution, an isotonic regression: stretches of classes that go the
    wrong way are replaced by their mean, which keeps the sum. (Such a fit minimises every Bregman divergence of the
    data from the fit: Barlow and Brunk 1972.) Which peak is best depends on the distance. All are compared, in O(c)
    operations a row. The minimum is exact up to rounding, which happens in float64.

    Equal classes of the solution are then set apart by the least that the dtype can hold: the log-probability of the
    outer one is the next number below that of the inner one (lower by 1.2e-7 of itself at most in float32, by 2.2e-16
    in float64; compiled or exported, by up to four times that), and the row as a whole keeps its sum. A class without
    probability (minus infinity) gets that of the smallest normal number of the dtype, 1e-38 or 2e-308.

    - A row that has one strict peak already is returned as it is, bit by bit; so projecting twice is projecting once.
    - Of several classes that share the top, the peak is the one that was most probable, then the one nearest to the
      middle of the top, then the lower one. Of peaks that are equally good for different solutions it is the lowest.
      So a mirrored row has the mirrored projection, unless it has two that are equally near.
    - The gradient is that of the solution: each class's goes to its stretch, in proportion to the probabilities.

    Args:
        log_probs: Log-probabilities, any leading shape. Half precision is made float32, and to sum to one.
        mode: The class where each row must have its peak; the best one if not given.
        distance: "squared" or "kl", by which the best peak is found; without effect on the result at a given mode.

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
    in_transform = not (in_plain_eager() or torch.compiler.is_compiling())  # forward mode does not require a gradient
    if log_probs.requires_grad or in_transform:
        return with_block_gradient(log_probs, nearest, starts)
    return nearest


def _nearest(
    log_probs: LogProbs, mode: Labels | None, distance: Distance, *, training: bool
) -> tuple[LogProbs, Tensor]:
    """The projection, and whether a block of the fit starts at each class."""
    done = (signed_gaps(log_probs, log_probs.argmax(dim=-1) if mode is None else mode) < 0).all(dim=-1, keepdim=True)
    num_classes, device = log_probs.shape[-1], log_probs.device.type
    # Going along the classes waits for what is found, which a step that is recorded as a CUDA graph cannot do. A step
    # that is not recorded does without as well, so that both have the same bits.
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
