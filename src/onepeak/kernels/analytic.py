r"""Losses on a CPU whose gradient is computed together with the value: cross-entropy under an order constraint.

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
from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn import functional as F

from onepeak._core.tensors import full_precision

Losses: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""The loss of each sample from scores and labels, in operations that autograd supports, for higher derivatives."""

Piece: TypeAlias = Callable[[Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]
"""From scores and labels, the mean loss and the gradient of the sum over samples, in the third argument if given."""

GapTerms: TypeAlias = Callable[[Tensor, Tensor], tuple[Tensor, float]]
"""A cost f of the gaps: from r and the sides, values and a factor whose product is f(r). It overwrites r, and turns the
sides into g."""


def barrier_terms(t: float) -> GapTerms:
    """The extended log-barrier (eq. 7): with c = max(r, 1 / t^2), f = t (c - r) - log(c) / t and f' = -1 / (t c)."""

    def terms(r: Tensor, sides: Tensor) -> tuple[Tensor, float]:
        edge = 1 / (t * t)
        clear = r.clamp_min(edge)
        sides.addcdiv_(sides, clear, value=2 / t)
        return torch.sub(clear, r, out=r).sub_(clear.log_(), alpha=edge), t

    return terms


def penalty_terms(weight: float, slack: float) -> GapTerms:
    """The quadratic penalty (eq. 3): with x = slack - r where r <= 0, f = weight x^2 and f' = -2 weight x."""

    def terms(r: Tensor, sides: Tensor) -> tuple[Tensor, float]:
        excess = (slack - r).mul_(r <= 0)
        sides.addcmul_(sides, excess, value=4 * weight)
        return excess.square_(), weight

    return terms


PIECE = 1 << 18
"""Scores per piece: 1 MB of float32, small enough for the cache and large enough for several threads."""


def mean_in_pieces(scores: Tensor, labels: Tensor, piece: Piece, plain: Losses) -> Tensor:
    """The mean over samples of a loss whose gradient is known."""
    if scores.ndim != 2:
        scores, labels = scores.reshape(-1, scores.shape[-1]), labels.reshape(-1)
    mean: Tensor = KnownGradient.apply(scores, labels.long(), functools.partial(_in_pieces, piece), plain)
    return mean


def _in_pieces(piece: Piece, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, float]:
    """The mean, the gradient of the sum, and what to multiply it by."""
    share = 1 / max(1, len(scores))
    if scores.numel() <= PIECE:
        return *piece(scores, labels, None), share
    mean, gradient = scores.new_zeros(()), torch.empty_like(scores)
    rows = max(1, PIECE // scores.shape[-1])
    for some, their_labels, out in zip(*(each.split(rows) for each in (scores, labels, gradient)), strict=True):
        part, _ = piece(some, their_labels, out)
        mean.add_(part, alpha=share * len(some))
    return mean, gradient, share


class KnownGradient(torch.autograd.Function):
    """The mean of a loss from a function that returns it, its gradient and what to multiply the gradient by."""

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        scores: Tensor,
        labels: Tensor,
        both: Callable[[Tensor, Tensor], tuple[Tensor, Tensor, float]],
        plain: Losses,
    ) -> Tensor:
        """Calls the function."""
        mean, gradient, ctx.share = both(scores, labels)  # type: ignore[attr-defined]
        ctx.save_for_backward(scores, labels, gradient)
        ctx.plain = plain  # type: ignore[attr-defined]
        return mean

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Tensor) -> tuple[Tensor, None, None, None]:
        """Scales the gradient."""
        (upstream,) = grad_outputs
        scores, labels, gradient = ctx.saved_tensors  # type: ignore[attr-defined]
        if torch.is_grad_enabled():  # `create_graph=True`: by autograd, so that it can be differentiated again
            mean = ctx.plain(full_precision(scores), labels).mean()  # type: ignore[attr-defined]
            (gradient,) = torch.autograd.grad(mean, scores, upstream, create_graph=True)
            return gradient, None, None, None
        share = ctx.share  # type: ignore[attr-defined]
        return gradient * (upstream if share == 1 else upstream * share), None, None, None


def by_autograd(plain: Losses, scores: Tensor, labels: Tensor, out: Tensor | None) -> tuple[Tensor, Tensor]:
    """A piece by autograd, for scores on which the faster arithmetic would fail."""
    with torch.enable_grad():
        leaf = scores.detach().requires_grad_()
        losses = plain(leaf, labels)
        (gradient,) = torch.autograd.grad(losses.sum(), leaf)
    return losses.detach().mean(), gradient if out is None else out.copy_(gradient)


def ordered_piece(terms: GapTerms, scores: Tensor, labels: Tensor, out: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The piece of cross-entropy plus order cost."""
    num_classes = scores.shape[-1]
    g = _sides(num_classes, scores.dtype, scores.device).index_select(0, num_classes - 1 - labels)
    inner = g[:, 1:-1]  # a view: `terms` turns the sides into g
    values, factor = terms(scores.diff(dim=-1).mul_(inner), inner)
    log_probs = scores.log_softmax(dim=-1)
    mean = F.nll_loss(log_probs, labels).add_(values.sum(), alpha=factor / max(1, len(scores)))
    gradient = torch.exp(log_probs, out=log_probs if out is None else out)
    return mean, gradient.add_(g.diff(dim=-1), alpha=0.5)


@functools.lru_cache(maxsize=16)
def _sides(num_classes: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Row i holds the sides of the label num_classes - 1 - i; all rows are windows into one vector of O(c) memory."""
    sides = torch.ones(2 * num_classes, dtype=dtype, device=device)
    sides[num_classes:] = -1
    return sides.unfold(0, num_classes + 1, 1)
