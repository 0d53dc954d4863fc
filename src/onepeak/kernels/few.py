"""Cross-entropy under order constraints for a batch of few numbers.

On a CPU a call of PyTorch costs several microseconds and one of NumPy about one. Up to some thousand scores that is
most of the time a loss takes, so there the formulas of :mod:`onepeak.kernels.analytic` are worked out in NumPy, on the
same memory. Checks take as long as arithmetic there: one look tells whether all is as usual, and what is wrong with
the values shows in the result.
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
"""Up to this many scores NumPy is quicker; beyond, its arithmetic on one thread weighs more than the calls."""

MOST_CLASSES = 512
"""Beyond this the table of sides would be large."""

_FLOATS = (torch.float32, torch.float64)


def takes(scores: Tensor, labels: Tensor, num_classes: int) -> bool:
    """Whether a batch is worked out here: few scores and their labels on a CPU, of the usual types and shapes."""
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


@np.errstate(all="ignore")  # what is not finite shows in the loss
def mean_and_gradient(scores: Tensor, labels: Tensor, terms: GapTerms) -> tuple[Tensor, Tensor]:
    """The mean over samples of cross-entropy plus order cost, and its gradient; scores that autograd does not follow.

    Raises:
        FloatingPointError: The mean is not finite, for a score is not, or for a label is outside the classes.
    """
    s, rows = scores.numpy(), labels.numpy() + 1
    batch, num_classes = s.shape
    sides = _table_of_sides(num_classes, s.dtype).take(rows, axis=0, mode="clip")
    inner = sides[:, 1:-1]  # the same memory
    r = s[:, 1:] - s[:, :-1]
    r *= inner
    total = terms.of_arrays(r, inner)
    g = sides  # which the terms have made it

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
    """Row y + 1: +1 up to y and -1 after, num_classes + 1 long; NaN before and after, for labels out of range."""
    sides = np.full((num_classes + 2, num_classes + 1), np.nan, dtype)
    sides[1:-1] = np.where(np.arange(num_classes + 1) <= np.arange(num_classes)[:, None], 1, -1)
    return sides


@functools.lru_cache(maxsize=16)
def _before_samples(batch: int, num_classes: int) -> NDArray[np.int64]:
    """One before the place where each sample begins in the memory of all."""
    return np.arange(0, batch * num_classes, num_classes) - 1
