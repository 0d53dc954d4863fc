r"""Isotonic regression of every prefix of a row at once, on the logarithms of its values.

The isotonic fit of a sequence is the nearest one that never falls: the sequence is cut into blocks, and each is
replaced by its mean. The fit of a longer prefix follows from that of a shorter one: the new value starts as a block of
its own and is merged with the block before it while that one is not lower. Two things are kept of each prefix, and they
are enough to have the fit of all of them:

- the mean :math:`M_j` of the last block of the fit to 0..j. As fits only sink when values are added at the end, the fit
  to 0..s at place k is :math:`\min_{k \le j \le s} M_j`;
- the distance between the prefix and its fit. It only grows, by what each merging costs.

Reference: Stout, "Unimodal regression via prefix isotonic regression", Computational Statistics & Data Analysis 53,
2008.
"""

from typing import Literal, TypeAlias, assert_never

import torch
from torch import Tensor

from onepeak._shapes import LogProbs
from onepeak.posterior.scan import NO_PROBABILITY, add_in_log, scan

Distance: TypeAlias = Literal["squared", "kl"]
"""Sum of squared differences of probabilities, or the Kullback-Leibler divergence of the fit from the row."""


def prefix_fits(values: LogProbs, distance: Distance) -> tuple[LogProbs, LogProbs]:
    """The log-mean of the last block of the fit to each prefix, and the distance of each prefix from its fit.

    O(c) operations a row, none of which waits for the device: every row either takes its next value or merges its last
    two blocks, so 2c - 2 steps are enough for all rows, whatever their values.

    Args:
        values: Logarithms of the values, `NO_PROBABILITY` or more.
        distance: What is reported as the distance; the fit is the nearest in both.

    Example:
        >>> means, distances = prefix_fits(torch.tensor([[1.0, 4.0, 2.0, 6.0]]).log(), "squared")
        >>> means.exp(), distances
        (tensor([[1., 4., 3., 6.]]), tensor([[0., 0., 2., 2.]]))
    """
    num_classes = values.shape[-1]
    rows = values.reshape(-1, num_classes)
    num_rows = len(rows)
    # Class by class in memory, between a floor that nothing merges with and a roof where rows that are done wait.
    ends = rows.new_full((2, num_rows), torch.inf)
    means = torch.cat([-ends[:1], rows.T, ends[1:]]).reshape(-1)
    starts = torch.arange(-1, num_classes + 1, device=rows.device).repeat_interleave(num_rows)
    costs = torch.zeros_like(means)

    column = torch.arange(num_rows, device=rows.device)
    first = torch.zeros_like(column)  # the last block of each row: classes first to stop - 1, stored at its end
    stop = torch.ones_like(column)
    mean, cost = rows[:, 0].clone(), torch.zeros_like(rows[:, 0])
    for _ in range(2 * num_classes - 2):
        before = torch.add(column, first, alpha=num_rows)
        higher, begin = means.index_select(0, before), starts.index_select(0, before)
        merge = higher >= mean
        fall = (mean - higher).clamp_(max=0)  # zero where nothing is merged, so that it costs nothing
        size, total = (stop - first).to(rows.dtype), (stop - begin).to(rows.dtype)
        drop = fall.expm1()
        change = (size / total * drop).log1p_()  # of the mean of the block before, in log space
        cost = cost + _cost_of_merging(higher, fall, drop, change, size, total, distance)

        first = torch.where(merge, begin, stop).clamp_(max=num_classes)
        stop = torch.where(merge, stop, (stop + 1).clamp_(max=num_classes + 1))
        end = torch.add(column, stop, alpha=num_rows)
        mean = torch.where(merge, change.add_(higher), means.index_select(0, end))
        means.scatter_(0, end, mean)
        starts.scatter_(0, end, first)
        costs.scatter_(0, end, cost)
    return tuple(kept.view(-1, num_rows)[1:-1].T.reshape(values.shape) for kept in (means, costs))  # type: ignore[return-value]


def _cost_of_merging(
    higher: Tensor, fall: Tensor, drop: Tensor, change: Tensor, size: Tensor, total: Tensor, distance: Distance
) -> Tensor:
    """By how much the distance grows when `size` values are merged into a block of `total`; means are logarithms."""
    match distance:
        case "squared":
            return (higher.exp() * drop).square_() * (size * (1 - size / total))
        case "kl":
            return higher.exp() * (size * fall.exp() * (fall - change) - (total - size) * change)
        case _:
            assert_never(distance)


def prefix_fits_by_pairs(values: LogProbs, distance: Distance) -> tuple[LogProbs, LogProbs]:
    r"""The same as `prefix_fits` from the mean of every interval, for tracing: few operations, but c^2 memory a row.

    The last block of the fit to 0..j is the interval ending at j that has the highest mean.

    Example:
        >>> means, distances = prefix_fits_by_pairs(torch.tensor([[1.0, 4.0, 2.0, 6.0]]).log(), "squared")
        >>> means.exp(), distances
        (tensor([[1., 4., 3., 6.]]), tensor([[0., 0., 2., 2.]]))
    """
    place = torch.arange(values.shape[-1], device=values.device)
    interval = place.unsqueeze(-1) <= place  # first class, last class
    sums = scan(torch.where(interval, values.unsqueeze(-2), 2 * NO_PROBABILITY), add_in_log)
    sizes = (place - place.unsqueeze(-1) + 1).clamp(min=1).to(values.dtype)
    means = torch.where(interval, sums - sizes.log(), -torch.inf).amax(dim=-2)

    prefix = interval.T  # last class of the prefix, a class in it
    fits = scan(torch.where(prefix, means.unsqueeze(-2), torch.inf).flip(-1), torch.minimum).flip(-1)
    return means, torch.where(prefix, _distances(values.unsqueeze(-2), fits, distance), 0).sum(dim=-1)


def _distances(raw: Tensor, fits: Tensor, distance: Distance) -> Tensor:
    """What each value adds to the distance; both are logarithms."""
    match distance:
        case "squared":
            return (raw.exp() - fits.exp()).square()
        case "kl":
            return raw.exp() * (raw - fits) - raw.exp() + fits.exp()
        case _:
            assert_never(distance)
