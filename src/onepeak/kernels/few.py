"""Cross-entropy under order constraints for small batches.

On a CPU a PyTorch call costs several microseconds and a NumPy call about one. Up to a few thousand scores, calls take
most of the time of a loss, so this module computes the formulas of :mod:`onepeak.kernels.analytic` in NumPy, on the
same memory. Input checks would take as long as the arithmetic. So one test decides whether types and shapes are the
usual ones, and invalid values are detected by a result that is not finite.
"""

import functools
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from onepeak._check import in_plain_eager
from onepeak.kernels.terms import Floats, GapTerms

FEW = 1 << 13
"""Up to this many scores NumPy is faster; beyond it, single-threaded arithmetic outweighs the cost of calls."""

MOST_CLASSES = 512
"""Beyond this many classes the table of sides would be too large."""

_FLOATS = (torch.float32, torch.float64)


def takes(scores: Tensor, labels: Tensor, num_classes: int) -> bool:
    """Whether this module handles a batch: few scores and their labels on a CPU, of the usual types and shapes."""
    return (
        type(scores) is Tensor
        and scores.is_cpu
        and type(labels) is Tensor
        and scores.dtype in _FLOATS
        and labels.dtype is torch.int64
        and labels.ndim == 1
        and scores.shape == (len(labels), num_classes)
        and 0 < len(labels) * num_classes <= FEW
        and num_classes <= MOST_CLASSES
        and labels.is_cpu
        and in_plain_eager()
    )


@np.errstate(all="ignore")  # values that are not finite show in the loss
def mean_and_gradient(scores: Tensor, labels: Tensor, terms: GapTerms) -> tuple[Tensor, Tensor]:
    """The mean over samples of cross-entropy plus order cost, and its gradient. Call it with autograd disabled.

    Raises:
        FloatingPointError: The mean is not finite, because a score is not finite or a label is out of range.
    """
    s, rows = scores.numpy(), labels.numpy() + 1
    batch, num_classes = s.shape
    sides = _table_of_sides(num_classes, s.dtype).take(rows, axis=0, mode="clip")
    inner = sides[:, 1:-1]  # a view
    r = s[:, 1:] - s[:, :-1]
    r *= inner
    total = terms.of_arrays(r, inner)
    g = sides  # `of_arrays` has turned the sides into g

    below_highest = s - np.maximum.reduce(s, axis=1, keepdims=True)
    gradient = np.exp(below_highest)
    norms = np.add.reduce(gradient, axis=1, keepdims=True)
    at_labels = below_highest.take(rows + _before_samples(batch, num_classes), mode="clip")
    total += float(np.add.reduce(np.log(norms), axis=None) - np.add.reduce(at_labels))
    if not math.isfinite(total):
        raise FloatingPointError("the loss is not finite")

    norms *= batch
    gradient /= norms
    g *= 0.5 / batch
    gradient += g[:, 1:]
    gradient -= g[:, :-1]
    return torch.from_numpy(np.array(total / batch, s.dtype)), torch.from_numpy(gradient)


@functools.lru_cache(maxsize=16)
def _table_of_sides(num_classes: int, dtype: np.dtype[Any]) -> Floats:
    """Row y + 1 holds the sides of label y: +1 up to y and -1 after; the first and last row are NaN, out of range."""
    sides = np.full((num_classes + 2, num_classes + 1), np.nan, dtype)
    sides[1:-1] = np.where(np.arange(num_classes + 1) <= np.arange(num_classes)[:, None], 1, -1)
    return sides


@functools.lru_cache(maxsize=16)
def _before_samples(batch: int, num_classes: int) -> NDArray[np.int64]:
    """The offset of each sample in the flattened scores, minus 1: the caller adds label + 1."""
    return np.arange(0, batch * num_classes, num_classes) - 1
