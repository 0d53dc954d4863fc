"""Cross-entropy under order constraints on a GPU: value and gradient in one pass over the scores (Triton).

Up to `LONGEST_ROW` classes the scores are read once and the gradient is written once. Longer rows are read twice, by
one program each or, where they are few, split between several. Set the environment variable ONEPEAK_FUSED=0 to go
without.
"""

import functools
import importlib.util
import os
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn import functional as F

from onepeak._check import in_plain_eager

LONGEST_ROW = 4096
"""Numbers of one row that fit the registers of a program."""

TILE = 1024
"""Numbers that one program takes when rows are short, unless one program can take all (`LONGEST_ROW` of them)."""

COLUMNS, WARPS = 1024, 8
"""Numbers that one program takes at a time from a longer row, and the warps it has for them."""

PROGRAMS = 1056
"""Programs that keep a large GPU busy: eight for each of 132 multiprocessors."""

LARGE = 1 << 22
"""From this many numbers on, backward scales the gradient where it lies rather than into a copy."""

_LAUNCHING = threading.Lock()
"""Triton builds a kernel when it is first launched, and must not be asked for it by two threads at once."""

PlainCost: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""The cost of each sample in operations that autograd follows, for derivatives of derivatives."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FusedTerms:
    """A cost of the gaps that the kernels know: the extended log-barrier (eq. 7) or the quadratic penalty (eq. 3)."""

    t: Tensor | None = None
    """The barrier's, read on the device at every call, so that a captured graph follows it; the penalty has none."""
    weight: float = 0.0
    slack: float = 0.0


def takes(scores: Tensor) -> bool:
    """Whether these scores are worked out here."""
    fit = scores.is_cuda and scores.dtype != torch.float64 and scores.numel() > 0
    return fit and in_plain_eager() and _switched_on(scores.device)


@functools.cache
def _switched_on(device: torch.device) -> bool:
    """Whether kernels are wanted and can be built: Triton needs a C compiler, which not every machine has."""
    if os.environ.get("ONEPEAK_FUSED", "1") == "0" or importlib.util.find_spec("triton") is None:
        return False
    try:
        _scale(torch.ones(1, device=device), torch.ones((), device=device))
    except Exception as error:  # whatever a compiler can meet
        warnings.warn(
            f"Triton cannot build kernels here, so losses run without them, slower but the same: {error!r}. "
            "Set ONEPEAK_FUSED=0 to leave out this try.",
            stacklevel=2,
        )
        return False
    return True


def ordered_cross_entropy(scores: Tensor, labels: Tensor, terms: FusedTerms, plain: PlainCost) -> Tensor:
    """The mean over samples of cross-entropy plus order cost, in float32, for float32 scores or shorter ones."""
    if scores.ndim != 2:
        scores, labels = scores.reshape(-1, scores.shape[-1]), labels.reshape(-1)
    loss: Tensor = _OrderedCrossEntropy.apply(scores.contiguous(), labels.long(), terms, plain)
    return loss


class _OrderedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, scores: Tensor, labels: Tensor, terms: FusedTerms, plain: PlainCost) -> Tensor:
        loss, gradient = loss_and_gradient(scores, labels, terms)
        ctx.save_for_backward(scores, labels)
        if scores.numel() >= LARGE and terms.t is not None:  # a second backward may come after t has grown
            terms = replace(terms, t=terms.t.clone())
        ctx.gradient, ctx.terms, ctx.plain = gradient, terms, plain  # type: ignore[attr-defined]
        return loss

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Tensor) -> tuple[Tensor, None, None, None]:
        (upstream,) = grad_outputs
        scores, labels = ctx.saved_tensors  # type: ignore[attr-defined]
        if torch.is_grad_enabled():
            full = scores.float()
            loss = F.cross_entropy(full, labels) + ctx.plain(full, labels).mean()  # type: ignore[attr-defined]
            (gradient,) = torch.autograd.grad(loss, scores, upstream, create_graph=True)
            return gradient, None, None, None
        gradient = ctx.gradient  # type: ignore[attr-defined]
        if gradient is None:  # a second backward through a kept graph, after the first has scaled it in place
            _, gradient = loss_and_gradient(scores, labels, ctx.terms)  # type: ignore[attr-defined]
        if gradient.numel() < LARGE:
            return (gradient * upstream).to(scores.dtype), None, None, None
        ctx.gradient = None  # type: ignore[attr-defined]
        _scale(gradient, upstream)
        return gradient.to(scores.dtype), None, None, None


def loss_and_gradient(scores: Tensor, labels: Tensor, terms: FusedTerms) -> tuple[Tensor, Tensor]:
    """The mean loss and its gradient, in the dtype of the scores (float32 for float16, whose range is too short)."""
    from onepeak.kernels import device_code

    batch, classes = scores.shape
    share = 1 / max(1, batch)
    gradient = torch.empty_like(scores, dtype=torch.float32 if scores.dtype == torch.float16 else scores.dtype)
    kind = (device_code.PENALTY if terms.t is None else device_code.BARRIER).value
    t = labels if terms.t is None else terms.t  # a kernel argument is needed, though the penalty makes no use of it
    weight, slack = terms.weight, terms.slack
    with _LAUNCHING, torch.cuda.device_of(scores):
        if classes <= LONGEST_ROW:
            columns = _power_of_two(classes)
            rows = _power_of_two(batch)
            if rows * columns > LONGEST_ROW:
                rows = max(1, TILE // columns)
            losses = torch.empty(_ceil(batch, rows), dtype=torch.float32, device=scores.device)
            device_code.whole_rows[(len(losses),)](
                scores, labels, t, losses, gradient, batch, classes, share, weight, slack,
                KIND=kind, ROWS=rows, COLUMNS=columns, num_warps=_warps(rows * columns),
            )  # fmt: skip
        elif 2 * batch > PROGRAMS:
            losses = torch.empty(batch, dtype=torch.float32, device=scores.device)
            device_code.long_rows[(batch,)](
                scores, labels, t, losses, gradient, classes, share, weight, slack,
                KIND=kind, COLUMNS=COLUMNS, num_warps=WARPS,
            )  # fmt: skip
        else:
            count = min(64, _power_of_two(_ceil(PROGRAMS, batch)), _ceil(classes, 8192))
            part = _ceil(_ceil(classes, count), COLUMNS) * COLUMNS
            count = _ceil(classes, part)
            parts = torch.empty(batch, count, 3, dtype=torch.float32, device=scores.device)
            losses = torch.empty(batch, dtype=torch.float32, device=scores.device)
            device_code.parts_of_rows[(batch, count)](
                scores, labels, t, parts, classes, part, weight, slack, KIND=kind, COLUMNS=COLUMNS, num_warps=WARPS
            )
            device_code.gradient_of_rows[(batch, count)](
                scores, labels, t, parts, losses, gradient, classes, part, count, share, weight, slack,
                KIND=kind, COLUMNS=COLUMNS, COUNT=_power_of_two(count), num_warps=WARPS,
            )  # fmt: skip
    return losses.squeeze(0) if len(losses) == 1 else losses.sum(), gradient


def _scale(gradient: Tensor, factor: Tensor) -> None:
    """Multiplies in place by a number on the device."""
    from onepeak.kernels import device_code

    with _LAUNCHING, torch.cuda.device_of(gradient):
        device_code.scale_in_place[(_ceil(gradient.numel(), 8192),)](
            gradient, factor, gradient.numel(), COLUMNS=8192, num_warps=8
        )


def _ceil(number: int, divisor: int) -> int:
    return -(-number // divisor)


def _power_of_two(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


def _warps(numbers: int) -> int:
    return min(8, max(1, numbers // 128))
