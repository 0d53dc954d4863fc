r"""Order constraints on a CPU with an analytic gradient, computed together with the value in one pass.

Autograd would keep a dozen tensors the size of the scores; here the gradient is the only one. Large batches are
processed in pieces that fit the processor's cache.

Let the **sides** of a label y be :math:`\sigma_j = +1` for :math:`j \le y` and :math:`-1` for :math:`j > y`,
:math:`j = 0, \dots, c`. Then :math:`r_k = \sigma_{k+1} (s_{k+1} - s_k)` is minus the gap of the pair (k, k+1), positive
if it is in order, and the one-hot vector of the label is :math:`\frac12 (\sigma_j - \sigma_{j+1})`. So the gradients of
:math:`-s_y`, the linear part of cross-entropy, and of any cost :math:`\sum_k f(r_k)` are both differences along one
vector:

.. math:: \frac{\partial}{\partial s_j} \Big( \sum_k f(r_k) - s_y \Big) = \frac{g_{j+1} - g_j}2, \qquad
          g_j = \sigma_j \, (1 - 2 f'(r_{j-1})) \text{ inside},\; g_j = \sigma_j \text{ at both ends}.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, final

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn import functional as F

PlainCost: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""A cost of scores and labels in operations that autograd supports, for higher derivatives."""


class GapTerms(ABC):
    """A cost f of the gaps. Both forms overwrite their arguments, as described at the top of this file."""

    @abstractmethod
    def of_tensors(self, r: Tensor, sides: Tensor) -> tuple[Tensor, float]:
        """Turns the sides into g, and returns values and a factor whose product is f(r)."""


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


PIECE = 1 << 18
"""Scores per piece: 1 MB of float32, small enough for the cache and large enough for several threads."""

LARGEST_TABLE = 512
"""Up to this many classes, the sides of all labels are cached as a table (1 MB)."""


def order_cost(scores: Tensor, labels: Tensor, terms: GapTerms, plain: PlainCost) -> Tensor:
    """The cost of each sample: the sum of its gaps' costs."""
    rows, row_labels = _as_rows(scores, labels)
    cost: Tensor = _OrderCost.apply(rows, row_labels, terms, plain)
    return cost.reshape(labels.shape)


def ordered_cross_entropy(scores: Tensor, labels: Tensor, terms: GapTerms, plain: PlainCost) -> Tensor:
    """The mean over samples of cross-entropy plus order cost."""
    loss: Tensor = _OrderedCrossEntropy.apply(*_as_rows(scores, labels), terms, plain)
    return loss


class _OrderCost(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, scores: Tensor, labels: Tensor, terms: GapTerms, plain: PlainCost) -> Tensor:
        cost, gradient = scores.new_empty(len(scores)), torch.empty_like(scores)
        one = scores.new_ones(())
        for some, their_labels, their_cost, their_gradient in _pieces(scores, labels, cost, gradient):
            values, factor, g = _cost_of_gaps(some, their_labels, terms)
            torch.sum(values, dim=-1, out=their_cost).mul_(factor)
            torch.sub(g[:, 1:], g[:, :-1], out=their_gradient).mul_(0.5)
            at_label = their_labels.unsqueeze(-1)
            # g contains the gradient of -s_y, which this cost does not have
            their_gradient.scatter_add_(-1, at_label, one.expand_as(at_label))
        ctx.save_for_backward(scores, labels, gradient)
        ctx.plain = plain  # type: ignore[attr-defined]
        return cost

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Tensor) -> tuple[Tensor, None, None, None]:
        (upstream,) = grad_outputs
        scores, labels, gradient = ctx.saved_tensors  # type: ignore[attr-defined]
        if torch.is_grad_enabled():
            cost = ctx.plain(scores, labels)  # type: ignore[attr-defined]
            return _differentiable_gradient(cost, scores, upstream), None, None, None
        return gradient * upstream.unsqueeze(-1), None, None, None


class _OrderedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, scores: Tensor, labels: Tensor, terms: GapTerms, plain: PlainCost) -> Tensor:
        share = 1 / max(1, len(scores))
        if scores.numel() <= PIECE:
            loss, gradient = _cross_entropy_of_piece(scores, labels, terms, share)
        else:
            loss, gradient = scores.new_zeros(()), torch.empty_like(scores)
            for some, their_labels, their_gradient in _pieces(scores, labels, gradient):
                part, _ = _cross_entropy_of_piece(some, their_labels, terms, 1 / len(some), their_gradient)
                loss.add_(part, alpha=share * len(some))
        ctx.save_for_backward(scores, labels, gradient)
        ctx.plain = plain  # type: ignore[attr-defined]
        ctx.share = share  # type: ignore[attr-defined]
        return loss

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Tensor) -> tuple[Tensor, None, None, None]:
        (upstream,) = grad_outputs
        scores, labels, gradient = ctx.saved_tensors  # type: ignore[attr-defined]
        if torch.is_grad_enabled():
            loss = F.cross_entropy(scores, labels) + ctx.plain(scores, labels).mean()  # type: ignore[attr-defined]
            return _differentiable_gradient(loss, scores, upstream), None, None, None
        # the saved gradient is that of the sum over samples
        return gradient * (upstream * ctx.share), None, None, None  # type: ignore[attr-defined]


def _cross_entropy_of_piece(
    scores: Tensor, labels: Tensor, terms: GapTerms, share: float, gradient: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The mean of cross-entropy plus order cost over samples, and the gradient of their sum, in `gradient` if given."""
    values, factor, g = _cost_of_gaps(scores, labels, terms)
    log_probs = scores.log_softmax(dim=-1)
    loss = F.nll_loss(log_probs, labels).add_(values.sum(), alpha=factor * share)
    gradient = torch.exp(log_probs, out=log_probs if gradient is None else gradient)
    return loss, gradient.add_(g.diff(dim=-1), alpha=0.5)


def _differentiable_gradient(value: Tensor, scores: Tensor, upstream: Tensor) -> Tensor:
    """The gradient by autograd for `create_graph=True`, so it can be differentiated again."""
    (gradient,) = torch.autograd.grad(value, scores, upstream, create_graph=True)
    return gradient


def _as_rows(scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    if scores.ndim != 2:
        scores, labels = scores.reshape(-1, scores.shape[-1]), labels.reshape(-1)
    return scores, labels.long()


def _pieces(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Splits all tensors into matching pieces of rows that fit the cache."""
    rows = max(1, PIECE // tensors[0].shape[-1])
    return zip(*(tensor.split(rows) for tensor in tensors), strict=True)


def _cost_of_gaps(scores: Tensor, labels: Tensor, terms: GapTerms) -> tuple[Tensor, float, Tensor]:
    """Values and a factor whose product is the cost of each gap, and g, whose differences are twice the gradient."""
    sides = _sides(labels, scores.shape[-1], scores.dtype)
    inner = sides[:, 1:-1]  # a view
    values, factor = terms.of_tensors(scores.diff(dim=-1).mul_(inner), inner)
    return values, factor, sides  # `of_tensors` has turned the sides into g


def _sides(labels: Tensor, num_classes: int, dtype: torch.dtype) -> Tensor:
    """The sides of each label: num_classes + 1 values, +1 up to the label and -1 after it."""
    if num_classes <= LARGEST_TABLE:
        return _table_of_sides(num_classes, dtype, labels.device).index_select(0, labels)
    return _windows_of_sides(num_classes, dtype, labels.device).index_select(0, num_classes - 1 - labels)


@functools.lru_cache(maxsize=16)
def _windows_of_sides(num_classes: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Row i holds the sides of the label num_classes - 1 - i; all rows are windows into one vector of O(c) memory."""
    sides = torch.ones(2 * num_classes, dtype=dtype, device=device)
    sides[num_classes:] = -1
    return sides.unfold(0, num_classes + 1, 1)


@functools.lru_cache(maxsize=16)
def _table_of_sides(num_classes: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    return _windows_of_sides(num_classes, dtype, device).flip(0)
