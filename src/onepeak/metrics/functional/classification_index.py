"""Indices of the whole confusion matrix: OCI and UOC, and how informative the closeness of the predictions is."""

from collections.abc import Callable

import torch
from torch import Tensor

from onepeak._core.check import check_number, readable
from onepeak._core.tensors import Labels, PerSample, Scalar
from onepeak.metrics.functional.confusion_matrix import class_distances, confusion_matrix

_AREA_POINTS = 1001
"""Values of beta over which the uniform index is averaged. It is concave in beta with slopes from c - 1 to 0, so the
trapezoids lie at most (c - 1) / 8e6 below the integral."""

_STRAIGHT = 1e-12
"""A concave function that is no farther above its chord than this equals the chord, up to rounding."""


def ordinal_classification_index(
    predicted: Labels,
    labels: Labels,
    *,
    num_classes: int,
    beta: float = 0.75,
    gamma: float = 1.0,
    sample_weight: PerSample | None = None,
) -> Scalar:
    r"""The OCI: the cost of the cheapest path through the confusion matrix that never goes back in either label.

    .. math:: \min_{\text{path}} \; 1 - \frac{\sum_{(r, k) \in \text{path}} n_{rk}}
              {N + \big( \sum_{rk} n_{rk} |r - k|^\gamma \big)^{1 / \gamma}}
              + \frac{\beta}{N (c - 1)^\gamma} \sum_{(r, k) \in \text{path}} n_{rk} |r - k|^\gamma

    over paths from the first class of both labels to the last class of both, in steps of one class in either label or
    both. Both labels rank the samples on a path in the same order. Samples off the path add to the cost, and so does
    the distance of all samples from the diagonal. Range 0 to 1, lower is better; nan without samples. Frequent classes
    count more, unlike in `uniform_ordinal_classification_index`.

    Args:
        beta: Cost of the distance of a path from the diagonal, in addition to the samples that it leaves out.
        gamma: Power of the distances.

    Example:
        >>> predicted, labels = torch.tensor([0, 1, 1, 2]), torch.tensor([0, 0, 1, 2])
        >>> index = ordinal_classification_index(predicted, labels, num_classes=3)  # 1 - 4 / (4 + 1) + .75 / (4 * 2)
        >>> round(index.item(), 5)
        0.29375

    Reference: Cardoso, Sousa 2011, Measuring the performance of ordinal classification.
    """
    check_number("beta", beta, minimum=0)
    check_number("gamma", gamma, above=0)
    table = confusion_matrix(predicted, labels, num_classes=num_classes, sample_weight=sample_weight)
    spread = table * class_distances(table).pow(gamma)
    found = table / (table.sum() + spread.sum().pow(1 / gamma))
    return 1 + _cheapest_path(beta / (table.sum() * (num_classes - 1) ** gamma), spread, found)


def uniform_ordinal_classification_index(
    predicted: Labels,
    labels: Labels,
    *,
    num_classes: int,
    beta: float | None = None,
    sample_weight: PerSample | None = None,
) -> Scalar:
    r"""The UOC: the ordinal classification index with equal weight for every class.

    .. math:: \min_{\text{path}} \; 1 - \frac{\sum_{(r, k) \in \text{path}} q_{rk}}{m + \sum_{rk} q_{rk} |r - k|}
              + \frac{\beta}{m} \sum_{(r, k) \in \text{path}} q_{rk} |r - k|

    with :math:`q_{rk}` the share of class r that is predicted to be of class k, and m the number of classes with a true
    sample. Paths are those of `ordinal_classification_index`. Range 0 to 1, lower is better; nan without samples.

    Args:
        beta: Cost of the distance of a path from the diagonal, in addition to the samples that it leaves out. By
            default the index is averaged over all betas from 0 to 1 (the area under the UOC), with the trapezoidal rule
            at a thousand points. That takes a few seconds for a thousand classes and grows with the square of their
            number.

    Example:
        >>> predicted, labels = torch.tensor([0, 1, 1, 2]), torch.tensor([0, 0, 1, 2])
        >>> round(uniform_ordinal_classification_index(predicted, labels, num_classes=3).item(), 4)
        0.2245

    Reference: Silva, Pinto, Cardoso 2018, A uniform performance index for ordinal classification with imbalanced
    classes.
    """
    if beta is not None:
        check_number("beta", beta, minimum=0)
    table = confusion_matrix(predicted, labels, num_classes=num_classes, sample_weight=sample_weight)
    of_class = table.sum(dim=-1, keepdim=True)
    shares = torch.where(of_class > 0, table / of_class, 0.0)
    num_occurring = (of_class > 0).sum(dtype=table.dtype)
    spread = shares * class_distances(table)
    found = shares / (num_occurring + spread.sum())
    if beta is not None:
        return 1 + _cheapest_path(beta / num_occurring, spread, found)
    betas = torch.linspace(0, 1, _AREA_POINTS, dtype=table.dtype, device=table.device)
    return _concave_area(lambda some: 1 + _cheapest_path(some / num_occurring, spread, found), betas)


def closeness_evaluation_measure(
    predicted: Labels, labels: Labels, *, num_classes: int, sample_weight: PerSample | None = None
) -> Scalar:
    r"""The CEM: the closeness of predicted to true labels, in bits, relative to a perfect prediction.

    .. math:: \frac{\sum_i \mathrm{prox}(\hat y_i, y_i)}{\sum_i \mathrm{prox}(y_i, y_i)}, \qquad
              \mathrm{prox}(k, r) = -\log_2 \frac1n \Big( \frac{n_k}2 + \sum_{j \text{ after } k}^{r} n_j \Big)

    where :math:`n_j` samples truly are of class j, and the sum runs from k (excluded) towards r (included). Classes are
    as far apart as there are samples between them: to mistake two neighbours that hold most samples costs more than
    to mistake two rare ones. Range 0 to 1, higher is better; nan without samples.

    Example:
        >>> predicted, labels = torch.tensor([0, 1, 1, 1]), torch.tensor([0, 0, 1, 1])
        >>> index = closeness_evaluation_measure(predicted, labels, num_classes=2)  # three of 2 bits, log2 4/3, of 8
        >>> round(index.item(), 4)
        0.8019

    Reference: Amigó, Gonzalo, Mizzaro, Carrillo-de-Albornoz 2020, An effectiveness metric for ordinal classification.
    """
    table = confusion_matrix(predicted, labels, num_classes=num_classes, sample_weight=sample_weight)
    counts = table.sum(dim=-1)
    reached = counts.cumsum(dim=-1)
    middle, last = reached - counts / 2, reached.unsqueeze(-1)
    below = torch.arange(num_classes, device=table.device) <= torch.arange(num_classes, device=table.device)[:, None]
    between = torch.where(below, last - middle, middle - last + counts.unsqueeze(-1))
    bits = -(between / counts.sum()).log2()
    closeness = torch.where(table > 0, table * bits, 0.0).sum()
    return closeness / torch.where(counts > 0, counts * bits.diagonal(), 0.0).sum()


def _concave_area(function: Callable[[Tensor], Tensor], points: Tensor) -> Tensor:
    """Integrates a concave function by the trapezoidal rule over evenly spaced points, evaluating few of them.

    If the function meets its chord in the middle of an interval, it equals the chord throughout; otherwise the interval
    is halved.
    """
    if not readable(points):
        return torch.trapezoid(function(points), points)
    low, high = torch.tensor([[0], [len(points) - 1]])
    known, values = torch.cat([low, high]), torch.empty_like(points)
    values[known] = function(points[known])
    while len(low):
        middle = (low + high) // 2
        known, values[middle] = torch.cat([known, middle]), function(points[middle])
        chord = values[low] + (values[high] - values[low]) * (middle - low) / (high - low)
        bent = values[middle] - chord > _STRAIGHT
        low, high = torch.cat([low[bent], middle[bent]]), torch.cat([middle[bent], high[bent]])
        low, high = low[high - low > 1], high[high - low > 1]
    known = known.sort().values
    return torch.trapezoid(values[known], points[known])


def _cheapest_path(weights: Tensor, spread: Tensor, found: Tensor) -> Tensor:
    """Returns, for each weight, the lowest sum of weight * spread - found along a path from the first cell to the last.

    A path goes right, down, or both at once.
    """
    above = weights.new_full((*weights.shape, len(found)), torch.inf)
    corner = torch.zeros_like(above[..., :1])  # the path enters the first cell from here
    for row_spread, row_found in zip(spread, found, strict=True):
        row = weights.unsqueeze(-1) * row_spread - row_found
        entered = torch.minimum(above, torch.cat([corner, above[..., :-1]], dim=-1))  # from above, or diagonally
        # Along a row, a path enters at one cell and pays for every cell up to the one where it leaves.
        before = row.cumsum(dim=-1) - row
        above = (entered - before).cummin(dim=-1).values + before + row
        corner = torch.full_like(corner, torch.inf)
    return above[..., -1]
