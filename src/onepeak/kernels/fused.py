"""Cross-entropy under order constraints on a GPU: value and gradient in one pass over the scores (Triton).

Set the environment variable ONEPEAK_FUSED=0 to do without.
"""

import functools
import importlib.util
import os
import threading
import warnings
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from onepeak._core.check import in_plain_eager
from onepeak.errors import InputError
from onepeak.kernels.analytic import KnownGradient, Losses

LONGEST_ROW = 4096
"""The longest row that fits in the registers of a program; longer ones go without kernels."""

TILE = 1024
"""The maximum number of scores per program when rows are short."""

SMALLEST_TILE = 128
"""The minimum number of scores per program: fewer would leave threads idle."""

PROGRAMS = 1056
"""The number of programs that keeps a large GPU busy: eight for each of 132 multiprocessors."""

_LAUNCHING = threading.Lock()
"""Triton compiles a kernel at its first launch, which two threads must not do at once."""


def takes(scores: Tensor) -> bool:
    """Whether the kernels handle these scores."""
    fit = scores.is_cuda and scores.dtype != torch.float64 and scores.numel() > 0 and scores.shape[-1] <= LONGEST_ROW
    plain = type(scores) in (Tensor, nn.Parameter)  # tensor subclasses define their own operations
    return fit and plain and in_plain_eager() and _switched_on(scores.device)


@functools.cache
def _switched_on(device: torch.device) -> bool:
    """Whether kernels are enabled and can be compiled: Triton needs a C compiler, which not every machine has."""
    if os.environ.get("ONEPEAK_FUSED", "1") == "0" or importlib.util.find_spec("triton") is None:
        return False
    try:
        FusedTerms().loss_and_gradient(
            torch.zeros(1, 2, device=device), torch.zeros(1, dtype=torch.int64, device=device)
        )
    except Exception as error:  # a compiler can fail in many ways
        warnings.warn(
            f"Triton cannot compile kernels here ({error!r}). Losses run without them: slower, with the same results. "
            "Set ONEPEAK_FUSED=0 to skip this attempt.",
            stacklevel=2,
        )
        return False
    return True


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FusedTerms:
    """A gap cost that the kernels implement: the extended log-barrier (eq. 7) or the quadratic penalty (eq. 3)."""

    t: Tensor | None = None
    """The t of a barrier, read on the device at every call so that a captured graph sees changes; None: penalty."""
    weight: float = 0.0
    slack: float = 0.0

    def loss_and_gradient(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The mean of cross-entropy plus order cost, and its gradient in the dtype of the scores.

        For float16, whose range is too small, the gradient is float32.
        """
        import triton

        from onepeak.kernels import device

        batch, classes = scores.shape
        share = 1 / max(1, batch)
        gradient = torch.empty_like(scores, dtype=torch.float32 if scores.dtype == torch.float16 else scores.dtype)
        kind = (device.PENALTY if self.t is None else device.BARRIER).value
        # The penalty does not use t, but the kernel needs some pointer. The t of a loss left on the CPU is moved.
        t = labels if self.t is None else self.t.to(scores.device)
        rows, columns = tile(batch, classes)
        programs = triton.cdiv(batch, rows)
        losses = torch.empty(() if programs == 1 else programs, dtype=torch.float32, device=scores.device)
        with _LAUNCHING, torch.cuda.device_of(scores):
            device.whole_rows[(programs,)](
                scores, labels, t, losses, gradient, batch, classes, share, self.weight, self.slack,
                KIND=kind, ROWS=rows, COLUMNS=columns, num_warps=warps(rows * columns),
            )  # fmt: skip
        return losses.sum() if losses.ndim else losses, gradient


def ordered_cross_entropy(scores: Tensor, labels: Tensor, terms: FusedTerms, plain: Losses) -> Tensor:
    """The mean over samples of cross-entropy plus order cost, in float32, for scores in float32 or half precision."""
    if labels.device != scores.device:  # a kernel cannot read memory of another device
        raise InputError(
            f"`labels` must be on the device of the scores, {scores.device}, got {labels.device}: move them there."
        )
    if scores.ndim != 2:
        scores, labels = scores.reshape(-1, scores.shape[-1]), labels.reshape(-1)
    mean: Tensor = KnownGradient.apply(
        scores.contiguous(), labels.long(), lambda *batch: (*terms.loss_and_gradient(*batch), 1), plain
    )
    return mean  # autograd casts the gradient to the dtype of the scores


@functools.cache
def tile(batch: int, classes: int) -> tuple[int, int]:
    """The rows and columns that one program processes if rows are short.

    A batch that fits one tile takes one program, which saves the sum over programs. A larger batch is spread over
    enough programs to keep the device busy.
    """
    from triton import cdiv, next_power_of_2

    rows, columns = next_power_of_2(batch), next_power_of_2(classes)
    if rows * columns <= TILE:
        return rows, columns
    numbers = min(TILE, max(SMALLEST_TILE, next_power_of_2(cdiv(rows * columns, PROGRAMS))))
    return max(1, numbers // columns), columns


def warps(numbers: int) -> int:
    """The number of warps for a program with this many scores: one or a few scores per thread."""
    return min(8, max(4, numbers // 128))
