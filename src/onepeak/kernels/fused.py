"""Cross-entropy under order constraints on a GPU: value and gradient in one pass over the scores (Triton).

Up to `launch.LONGEST_ROW` classes, the scores are read once and the gradient is written once. Longer rows are read
twice, the second time mostly from the cache, by one program per row or, if there are few rows, by several.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn import functional as F

from onepeak.kernels import launch
from onepeak.kernels.analytic import PlainCost

COLUMNS, WARPS = 1024, 8
"""Scores of a long row that one program processes at a time, and its number of warps."""

SHORTEST_PART = 8192
"""The minimum number of scores in a part of a row."""

LARGE = 1 << 22
"""From this many scores on, backward scales the gradient in place instead of into a copy."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FusedTerms:
    """A gap cost that the kernels implement: the extended log-barrier (eq. 7) or the quadratic penalty (eq. 3)."""

    t: Tensor | None = None
    """The t of a barrier, read on the device at every call so that a captured graph sees changes; None: penalty."""
    weight: float = 0.0
    slack: float = 0.0

    def frozen(self) -> "FusedTerms":
        """A copy that later changes of t do not affect: `tighten` may change it before a second backward pass."""
        return self if self.t is None else replace(self, t=self.t.clone())

    def loss_and_gradient(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The mean of cross-entropy plus order cost, and its gradient in the dtype of the scores.

        For float16, whose range is too small, the gradient is float32.
        """
        from onepeak.kernels import device

        batch, classes = scores.shape
        share = 1 / max(1, batch)
        gradient = torch.empty_like(scores, dtype=torch.float32 if scores.dtype == torch.float16 else scores.dtype)
        kind = (device.PENALTY if self.t is None else device.BARRIER).value
        # The penalty does not use t, but the kernel needs some pointer. The t of a loss left on the CPU is moved.
        t = labels if self.t is None else self.t.to(scores.device)
        with launch.LAUNCHING, torch.cuda.device_of(scores):
            if classes <= launch.LONGEST_ROW:
                rows, columns = launch.tile(batch, classes)
                programs = launch.ceil(batch, rows)
                losses = _empty_losses(programs, scores.device)
                device.whole_rows[(programs,)](
                    scores, labels, t, losses, gradient, batch, classes, share, self.weight, self.slack,
                    KIND=kind, ROWS=rows, COLUMNS=columns, num_warps=launch.warps(rows * columns),
                )  # fmt: skip
            else:
                part, count = launch.parts(batch, classes, COLUMNS, shortest=SHORTEST_PART)
                parts = torch.empty(batch, count, 3, dtype=torch.float32, device=scores.device)
                losses = _empty_losses(batch, scores.device)
                device.parts_of_rows[(batch, count)](
                    scores, labels, t, parts, classes, part, self.weight, self.slack,
                    KIND=kind, COLUMNS=COLUMNS, num_warps=WARPS,
                )  # fmt: skip
                device.gradient_of_rows[(batch, count)](
                    scores, labels, t, parts, losses, gradient, classes, part, count, share, self.weight, self.slack,
                    KIND=kind, COLUMNS=COLUMNS, COUNT=launch.power_of_two(count), num_warps=WARPS,
                )  # fmt: skip
        return losses.sum() if losses.ndim else losses, gradient


def _empty_losses(programs: int, device: torch.device) -> Tensor:
    """The buffer for the partial loss of each program; a scalar if there is only one program."""
    return torch.empty(() if programs == 1 else programs, dtype=torch.float32, device=device)


def ordered_cross_entropy(scores: Tensor, labels: Tensor, terms: FusedTerms, plain: PlainCost) -> Tensor:
    """The mean over samples of cross-entropy plus order cost, in float32, for scores in float32 or half precision."""
    launch.check_device(labels, scores)
    if scores.ndim != 2:
        scores, labels = scores.reshape(-1, scores.shape[-1]), labels.reshape(-1)
    loss: Tensor = _OrderedCrossEntropy.apply(scores.contiguous(), labels.long(), terms, plain)
    return loss


class _OrderedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, scores: Tensor, labels: Tensor, terms: FusedTerms, plain: PlainCost) -> Tensor:
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
            full = scores.float()
            loss = F.cross_entropy(full, labels) + ctx.plain(full, labels).mean()  # type: ignore[attr-defined]
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
