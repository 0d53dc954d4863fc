"""The autograd function of GPU losses that compute their gradient together with their value."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from onepeak.kernels import launch

LARGE = 1 << 22
"""From this many scores on, backward scales the gradient in place instead of into a copy."""

PlainLoss: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""The loss of each sample in operations that autograd supports, for higher derivatives."""


class PassTerms(ABC):
    """A loss as a kernel computes it."""

    @abstractmethod
    def loss_and_gradient(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The mean loss and its gradient in the dtype of the scores (float32 for float16, whose range is too small)."""

    @abstractmethod
    def frozen(self) -> "PassTerms":
        """A copy that later changes do not affect: `tighten` may change t before a second backward pass."""


def mean_loss(scores: Tensor, labels: Tensor, terms: PassTerms, plain: PlainLoss) -> Tensor:
    """The mean over samples, in float32, for scores in float32 or half precision."""
    launch.check_device(labels, scores)
    if scores.ndim != 2:
        scores, labels = scores.reshape(-1, scores.shape[-1]), labels.reshape(-1)
    loss: Tensor = _OnePass.apply(scores.contiguous(), labels.long(), terms, plain)
    return loss


def empty_gradient(scores: Tensor) -> Tensor:
    """The gradient buffer of a kernel, in the dtype of the scores; float32 for float16, whose range is too small."""
    return torch.empty_like(scores, dtype=torch.float32 if scores.dtype == torch.float16 else scores.dtype)


def empty_losses(programs: int, device: torch.device) -> Tensor:
    """The buffer for the partial loss of each program; a scalar if there is only one program."""
    return torch.empty(() if programs == 1 else programs, dtype=torch.float32, device=device)


def total(losses: Tensor) -> Tensor:
    """The sum of the partial losses."""
    return losses.sum() if losses.ndim else losses


class _OnePass(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, scores: Tensor, labels: Tensor, terms: PassTerms, plain: PlainLoss) -> Tensor:
        loss, gradient = terms.loss_and_gradient(scores, labels)
        ctx.save_for_backward(scores, labels)
        ctx.terms = terms.frozen() if scores.numel() >= LARGE else terms  # type: ignore[attr-defined]
        ctx.gradient, ctx.plain = gradient, plain  # type: ignore[attr-defined]
        return loss

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Tensor) -> tuple[Tensor, None, None, None]:
        (upstream,) = grad_outputs
        if torch.is_grad_enabled():
            scores, labels = ctx.saved_tensors  # type: ignore[attr-defined]
            loss = ctx.plain(scores.float(), labels).mean()  # type: ignore[attr-defined]
            (gradient,) = torch.autograd.grad(loss, scores, upstream, create_graph=True)
            return gradient, None, None, None
        gradient = ctx.gradient  # type: ignore[attr-defined]
        if gradient is None:  # second backward through a retained graph: the first scaled the gradient in place
            _, gradient = ctx.terms.loss_and_gradient(*ctx.saved_tensors)  # type: ignore[attr-defined]
        # Autograd casts the gradient to the dtype of the scores.
        if gradient.numel() < LARGE:
            return gradient * upstream, None, None, None
        ctx.gradient = None  # type: ignore[attr-defined]
        launch.scale(gradient, upstream)
        return gradient, None, None, None
