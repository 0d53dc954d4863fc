r"""The costs of a gap, value and slope together.

For each pair (k, k+1) of adjacent classes and a label y, the caller passes two values in writable memory:

- its side :math:`\sigma`, +1 where the scores should rise (k + 1 <= y) and -1 where they should fall;
- :math:`r = \sigma (s_{k+1} - s_k)`, minus the gap: positive if the pair is in order.

The terms return the cost :math:`f(r)` and overwrite the sides with :math:`g = \sigma (1 - 2 f'(r))`. The gradient of
cost plus cross-entropy is the probabilities plus half the differences of g; :mod:`onepeak.kernels.analytic` derives
this. The content of r is undefined afterwards.

Each cost is written twice: for tensors, and for NumPy arrays of batches so small that the overhead of a PyTorch call
exceeds its arithmetic.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats: TypeAlias = NDArray[np.floating[Any]]
PlainCost: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""A cost of scores and labels in operations that autograd supports, for higher derivatives."""


class GapTerms(ABC):
    """A cost f of the gaps. Both forms overwrite their arguments, as described at the top of this file."""

    @abstractmethod
    def of_tensors(self, r: Tensor, sides: Tensor) -> tuple[Tensor, float]:
        """Turns the sides into g, and returns values and a factor whose product is f(r)."""

    @abstractmethod
    def of_arrays(self, r: Floats, sides: Floats) -> float:
        """Turns the sides into g, and returns the sum of f(r)."""


@final
@dataclass(frozen=True, slots=True)
class BarrierTerms(GapTerms):
    """The extended log-barrier (eq. 7): with c = max(r, 1 / t^2), f = t (c - r) - log(c) / t and f' = -1 / (t c)."""

    t: float

    def of_tensors(self, r: Tensor, sides: Tensor) -> tuple[Tensor, float]:
        """The values divided by t, and t."""
        edge = 1 / (self.t * self.t)
        clear = r.clamp_min(edge)
        sides.addcdiv_(sides, clear, value=2 / self.t)
        return torch.sub(clear, r, out=r).sub_(clear.log_(), alpha=edge), self.t

    def of_arrays(self, r: Floats, sides: Floats) -> float:
        """The sum of the barrier."""
        clear = np.maximum(r, 1 / (self.t * self.t))
        factor = 2 / self.t / clear
        factor += 1
        sides *= factor
        r -= clear
        logs = np.log(clear, out=clear)
        return float(-self.t * np.add.reduce(r, axis=None) - np.add.reduce(logs, axis=None) / self.t)


@final
@dataclass(frozen=True, slots=True)
class PenaltyTerms(GapTerms):
    """The quadratic penalty (eq. 3): with x = slack - r where r <= 0, f = weight x^2 and f' = -2 weight x."""

    weight: float
    slack: float

    def of_tensors(self, r: Tensor, sides: Tensor) -> tuple[Tensor, float]:
        """The squares, and their weight."""
        excess = (self.slack - r).mul_(r <= 0)
        sides.addcmul_(sides, excess, value=4 * self.weight)
        return excess.square_(), self.weight

    def of_arrays(self, r: Floats, sides: Floats) -> float:
        """The sum of the penalty."""
        excess = self.slack - r
        excess *= r <= 0
        change = sides * excess
        change *= 4 * self.weight
        sides += change
        excess *= excess
        return float(self.weight * np.add.reduce(excess, axis=None))
