"""A loss on a GPU whose gradient is made together with its value, as autograd sees it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from onepeak.kernels import launch

LARGE = 1 << 22
"""From this many numbers on, backward scales the gradient where it lies rather than into a copy."""

PlainLoss: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""The loss of each sample in operations that autograd follows, for derivatives of derivatives."""


class PassTerms(ABC):
    """What a kernel knows of a loss."""

    @abstractmethod
    def loss_and_gradient(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The mean loss and its gradient, in the dtype of the scores (float32 for float16, whose range is short)."""

    @abstractmethod
    def frozen(self) -> "PassTerms":
        """The terms as they are now: a barrier's t may grow before a second backward pass."""


def mean_loss(scores: Tensor, labels: Tensor, terms: PassTerms, plain: PlainLoss) -> Tensor:
    """The mean over samples, in float32, for float32 scores or shorter ones."""
    launch.check_device(labels, scores)
    if scores.ndim != 2:
        scores, labels = scores.reshape(-1, scores.shape[-1]), labels.reshape(-1)
    loss: Tensor = _OnePass.apply(scores.contiguous(), labels.long(), terms, plain)
    return loss


def empty_gradient(scores: Tensor) -> Tensor:
    """Where a kernel writes the gradient: in the dtype of the scores, but for float16, whose range is too short."""
    return torch.empty_like(scores, dtype=torch.float32 if scores.dtype == torch.float16 else scores.dtype)


def empty_losses(programs: int, device: torch.device) -> Tensor:
    """Where each program writes what it has found; one program writes the loss itself."""
    return torch.empty(() if programs == 1 else programs, dtype=torch.float32, device=device)


def total(losses: Tensor) -> Tensor:
    """The sum of what all programs have found."""
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
        if gradient is None:  # a second backward through a kept graph, after the first has scaled it in place
            _, gradient = ctx.terms.loss_and_gradient(*ctx.saved_tensors)  # type: ignore[attr-defined]
        # Autograd itself takes the gradient to the dtype of the scores.
        if gradient.numel() < LARGE:
            return gradient * upstream, None, None, None
        ctx.gradient = None  # type: ignore[attr-defined]
        launch.scale(gradient, upstream)
        return gradient, None, None, None
