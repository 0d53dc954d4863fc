"""Losses of the softmax of scores on a GPU, with or without an order cost: value and gradient in one pass (Triton).

For rows that fit the registers of a program. The environment variable ONEPEAK_FUSED=0 switches these off too.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

from onepeak.kernels import fused
from onepeak.kernels.fused import FusedTerms

RowLoss: TypeAlias = Literal[
    "mean_variance", "label_distribution", "published_label_distribution", "ranked_probability"
]

MOST_WARPS = 16
"""For the most numbers a program takes: with 8 warps RPS under a barrier has more at hand than there are registers."""

PlainLoss: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""The loss of each sample in operations that autograd follows, for derivatives of derivatives."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RowTerms:
    """A loss of the softmax of a row that the kernels know, and what an order constraint adds to it."""

    loss: RowLoss
    settings: tuple[float, float]
    """Of mean-variance its two weights; of a label distribution 1 / (2 variance) and, as published, the height of the
    density; of the ranked probability score its weight and that of cross-entropy."""
    order: FusedTerms | None = None


def takes(scores: Tensor) -> bool:
    """Whether these scores are worked out here."""
    return scores.shape[-1] <= fused.LONGEST_ROW and fused.takes(scores)


def mean_loss(scores: Tensor, labels: Tensor, terms: RowTerms, plain: PlainLoss) -> Tensor:
    """The mean over samples, in float32, for float32 scores or shorter ones."""
    if scores.ndim != 2:
        scores, labels = scores.reshape(-1, scores.shape[-1]), labels.reshape(-1)
    loss: Tensor = _MeanLoss.apply(scores.contiguous(), labels.long(), terms, plain)
    return loss


class _MeanLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, scores: Tensor, labels: Tensor, terms: RowTerms, plain: PlainLoss) -> Tensor:
        loss, gradient = loss_and_gradient(scores, labels, terms)
        ctx.save_for_backward(scores, labels)
        if scores.numel() >= fused.LARGE and terms.order is not None and terms.order.t is not None:
            # a second backward may come after t has grown
            terms = replace(terms, order=replace(terms.order, t=terms.order.t.clone()))
        ctx.gradient, ctx.terms, ctx.plain = gradient, terms, plain  # type: ignore[attr-defined]
        return loss

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Tensor) -> tuple[Tensor, None, None, None]:
        (upstream,) = grad_outputs
        scores, labels = ctx.saved_tensors  # type: ignore[attr-defined]
        if torch.is_grad_enabled():
            loss = ctx.plain(scores.float(), labels).mean()  # type: ignore[attr-defined]
            (gradient,) = torch.autograd.grad(loss, scores, upstream, create_graph=True)
            return gradient, None, None, None
        gradient = ctx.gradient  # type: ignore[attr-defined]
        if gradient is None:  # a second backward through a kept graph, after the first has scaled it in place
            _, gradient = loss_and_gradient(scores, labels, ctx.terms)  # type: ignore[attr-defined]
        if gradient.numel() < fused.LARGE:
            return (gradient * upstream).to(scores.dtype), None, None, None
        ctx.gradient = None  # type: ignore[attr-defined]
        fused._scale(gradient, upstream)
        return gradient.to(scores.dtype), None, None, None


def loss_and_gradient(scores: Tensor, labels: Tensor, terms: RowTerms) -> tuple[Tensor, Tensor]:
    """The mean loss and its gradient, in the dtype of the scores (float32 for float16, whose range is too short)."""
    from onepeak.kernels import device_code, device_rows

    batch, classes = scores.shape
    gradient = torch.empty_like(scores, dtype=torch.float32 if scores.dtype == torch.float16 else scores.dtype)
    order = terms.order or FusedTerms()
    kind = device_code.PENALTY if order.t is None else device_code.BARRIER
    if terms.order is None:
        kind = device_rows.UNORDERED
    t = labels if order.t is None else order.t  # a kernel argument is needed, though only the barrier makes use of it
    columns = fused._power_of_two(classes)
    rows = fused._power_of_two(batch)
    if rows * columns > fused.LONGEST_ROW:
        rows = max(1, fused.TILE // columns)
    losses = torch.empty(fused._ceil(batch, rows), dtype=torch.float32, device=scores.device)
    with fused._LAUNCHING, torch.cuda.device_of(scores):
        device_rows.losses_of_rows[(len(losses),)](
            scores, labels, t, losses, gradient, batch, classes, 1 / max(1, batch),
            *terms.settings, order.weight, order.slack,
            LOSS=getattr(device_rows, terms.loss.upper()).value, ORDER=kind.value, ROWS=rows, COLUMNS=columns,
            num_warps=MOST_WARPS if rows * columns > fused.LONGEST_ROW // 2 else fused._warps(rows * columns),
        )  # fmt: skip
    return losses.squeeze(0) if len(losses) == 1 else losses.sum(), gradient
