"""Projection onto the nearest posterior with one peak."""

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
