"""Cross-entropy under order constraints for a batch of few numbers.

On a CPU a call of PyTorch costs several microseconds and one of NumPy about one. Up to some thousand scores that is
most of the time a loss takes, so there the formulas of :mod:`onepeak.kernels.analytic` are worked out in NumPy, on the
same memory.
"""

import functools
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from onepeak.kernels.terms import Floats, GapTerms

FEW = 1 << 13
"""Up to this many scores NumPy is quicker; beyond, its arithmetic on one thread weighs more than the calls."""

MOST_CLASSES = 512
"""Beyond this the table of sides would be large."""


def are_few(scores: Tensor) -> bool:
    """Whether a batch of scores is worked out here."""
    return scores.is_cpu and 0 < scores.numel() <= FEW and scores.shape[-1] <= MOST_CLASSES


def ordered_cross_entropy_of_few(scores: Tensor, labels: Tensor, terms: GapTerms) -> tuple[Tensor, Tensor]:
    """The mean over samples of cross-entropy plus order cost, and its gradient."""
    loss, gradient = _mean_and_gradient(scores.detach().numpy(), labels.numpy(), terms)
    return torch.scalar_tensor(loss, dtype=scores.dtype, device=scores.device), torch.from_numpy(gradient)


@np.errstate(all="ignore")  # what is not finite shows in the loss
def _mean_and_gradient(scores: Floats, labels: NDArray[np.int64], terms: GapTerms) -> tuple[float, Floats]:
    batch, num_classes = scores.shape
    if np.minimum.reduce(labels) < 0:
        raise IndexError("a label below 0, which NumPy would count from the end")
    sides = _table_of_sides(num_classes, scores.dtype).take(labels, axis=0)
    inner = sides[:, 1:-1]
    r = scores[:, 1:] - scores[:, :-1]
    r *= inner
    total = terms.of_arrays(r, inner)

    below_highest = scores - np.maximum.reduce(scores, axis=1, keepdims=True)
    gradient = np.exp(below_highest)
    norms = np.add.reduce(gradient, axis=1, keepdims=True)
    total += float(np.add.reduce(np.log(norms), axis=None) - np.add.reduce(below_highest[np.arange(batch), labels]))

    norms *= batch
    gradient /= norms
    sides *= 0.5 / batch
    gradient += sides[:, 1:]
    gradient -= sides[:, :-1]
    return total / batch, gradient


@functools.lru_cache(maxsize=16)
def _table_of_sides(num_classes: int, dtype: np.dtype[Any]) -> Floats:
    """Row y: +1 up to y and -1 after, num_classes + 1 long."""
    return np.where(np.arange(num_classes + 1) <= np.arange(num_classes)[:, None], 1, -1).astype(dtype)
