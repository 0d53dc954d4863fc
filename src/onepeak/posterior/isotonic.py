r"""Isotonic regression of all prefixes of a row at once, on the logarithms of its values.

The isotonic fit of a sequence is the nearest sequence that never falls. It cuts the sequence into blocks and replaces
each by its mean. To extend the fit by one value, add the value as a new block and merge it with the previous block as
long as that one is not lower. Two values per prefix are enough to recover all fits:

- the mean :math:`M_j` of the last block of the fit to 0..j. Fits only sink when values are appended, so the fit to 0..s
  at place k is :math:`\min_{k \le j \le s} M_j`;
- the distance between the prefix and its fit. It only grows, by the cost of each merge.

Reference: Stout, "Unimodal regression via prefix isotonic regression", Computational Statistics & Data Analysis 53,
2008.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias, assert_never

import torch
from torch import Tensor

from onepeak._core.tensors import Labels, LogProbs

Distance: TypeAlias = Literal["squared", "kl"]
"""The sum of squared differences of probabilities, or the Kullback-Leibler divergence of the fit from the row."""


def prefix_fits(values: LogProbs, distance: Distance) -> tuple[LogProbs, LogProbs]:
    """The log-mean of the last block of the fit to each prefix, and the distance of each prefix from its fit.

    O(c) operations per row: steps along the classes and processes only the rows that have blocks to merge.

    The fit to a prefix is a stack of blocks. Only the top block is stored, at the place where it ends. The block below
    it is the top block of the prefix that ends just before it. For the values 1, 4, 2, 6::

        place    0     1   2   3   4     a floor that nothing merges with, then the classes
        starts   0     1   2   2   4     start of the top block of the prefix that ends here
        means   -inf   1   4   3   6     its mean: at 3, the mean of 4 and 2
        costs    0     0   0   2   2     distance of the prefix from its fit
    """
    num_classes = values.shape[-1]
    rows = values.reshape(-1, num_classes)
    num_rows = len(rows)
    # Layout places x rows, because each step along the classes reads one place of all rows.
    means = torch.cat([rows.new_full((num_rows, 1), -torch.inf), rows], dim=-1).T.contiguous()
    starts = torch.arange(num_classes + 1, device=rows.device).unsqueeze(-1).repeat(1, num_rows)
    costs = torch.zeros_like(means)
    every_row = torch.arange(num_rows, device=rows.device)
    for last in range(2, num_classes + 1):
        costs[last] = costs[last - 1]
        # For the rows still merging: index; start, mean and cost of the top block; mean of the block below.
        row, start, mean, cost, below = every_row, starts[last], means[last], costs[last], means[last - 1]
        while (falls := (below >= mean).nonzero().squeeze(-1)).numel():
            row, start, mean, cost, below = (each.index_select(0, falls) for each in (row, start, mean, cost, below))
            size = (last + 1 - start).to(rows.dtype)
            start = _at(starts, start - 1, row)
            total = (last + 1 - start).to(rows.dtype)
            drop = mean - below
            change = (size / total * drop.expm1()).log1p()  # of the log-mean, relative to the block below
            cost = cost + _cost_of_merging(below, drop, change, size, total, distance)
            mean = below + change
            for table, merged in ((means, mean), (starts, start), (costs, cost)):
                table[last].scatter_(0, row, merged)
            below = _at(means, start - 1, row)
    return means[1:].T.reshape(values.shape), costs[1:].T.reshape(values.shape)


def _at(table: Tensor, place: Tensor, row: Tensor) -> Tensor:
    """The values of a table of places x rows at one place in each given row."""
    return table.view(-1).index_select(0, torch.add(row, place, alpha=table.shape[1]))


def _cost_of_merging(
    below: Tensor, drop: Tensor, change: Tensor, size: Tensor, total: Tensor, distance: Distance
) -> Tensor:
    """The increase of the distance when a block of length `size` merges with the one below it to length `total`.

    Their log-means are `below + drop` and `below`; the log-mean of the merged block is `below + change`.
    """
    match distance:
        case "squared":
            return (below.exp() * drop.expm1()).square() * (size * (1 - size / total))
        case "kl":
            return below.exp() * (size * drop.exp() * (drop - change) - (total - size) * change)
        case _:
            assert_never(distance)


def prefix_fits_by_pairs(values: LogProbs, distance: Distance) -> tuple[LogProbs, LogProbs]:
    """`prefix_fits` computed from the means of all intervals: few operations, no synchronisation, O(c^2) per row.

    The last block of the fit to 0..j is the interval ending at j with the highest mean.
    """
    place = torch.arange(values.shape[-1], device=values.device)
    interval = place.unsqueeze(-1) <= place  # axes: first class, last class
    sums = scan(torch.where(interval, values.unsqueeze(-2), 2 * NO_PROBABILITY), add_in_log)
    sizes = (place - place.unsqueeze(-1) + 1).clamp(min=1).to(values.dtype)
    means = torch.where(interval, sums - sizes.log(), -torch.inf).amax(dim=-2)

    prefix = interval.T  # axes: last class of the prefix, class within it
    fits = scan(torch.where(prefix, means.unsqueeze(-2), torch.inf).flip(-1), torch.minimum).flip(-1)
    return means, torch.where(prefix, _distances(values.unsqueeze(-2), fits, distance), 0).sum(dim=-1)


def _distances(raw: Tensor, fits: Tensor, distance: Distance) -> Tensor:
    """The contribution of each value to the distance; both arguments are logarithms."""
    match distance:
        case "squared":
            return (raw.exp() - fits.exp()).square()
        case "kl":
            return raw.exp() * (raw - fits) - raw.exp() + fits.exp()
        case _:
            assert_never(distance)


def break_ties(log_probs: LogProbs, peak: Labels, *, traced: bool = False) -> LogProbs:
    """Makes rows that never rise away from their peak fall strictly, and keeps their sum.

    From the peak outwards, a log-probability that is not below its inner neighbour becomes the next float below that
    neighbour. To keep the sum, all log-probabilities are first raised by the same amount.
    When `traced`, only arithmetic is used, which takes O(c^2) memory and steps two to four times as large.
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


NO_PROBABILITY = -1e30
"""Stands for the logarithm of zero. It is finite, so differences are not NaN, and it fits float32, so exporters do not
make it infinite."""


def scan(values: Tensor, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Combines each value with all values before it; `combine` must be associative.

    Each pass doubles the reach, so c values take about log2(c) passes.
    """
    reach = 1
    while reach < values.shape[-1]:
        combined = combine(values[..., reach:], values[..., :-reach])
        values = torch.cat([values[..., :reach], combined], dim=-1)
        reach *= 2
    return values


def add_in_log(first: Tensor, second: Tensor) -> Tensor:
    """log(exp(first) + exp(second)) for finite values.

    Replaces `torch.logaddexp`, which is exported to ONNX as exactly this formula and underflows there.
    """
    return torch.maximum(first, second) + (-(first - second).abs()).exp().log1p()
