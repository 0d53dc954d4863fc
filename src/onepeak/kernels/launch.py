"""Launching the kernels: when to use them, tile sizes, and a lock.

Set the environment variable ONEPEAK_FUSED=0 to disable them.
"""

import functools
import importlib.util
import os
import threading
import warnings

import torch
from torch import Tensor, nn

from onepeak._core.check import in_plain_eager
from onepeak.errors import InputError

LONGEST_ROW = 4096
"""The longest row that fits in the registers of a program."""

TILE = 1024
"""The maximum number of scores per program when rows are short."""

SMALLEST_TILE = 128
"""The minimum number of scores per program: fewer would leave threads idle."""

PROGRAMS = 1056
"""The number of programs that keeps a large GPU busy: eight for each of 132 multiprocessors."""

LAUNCHING = threading.Lock()
"""Triton compiles a kernel at its first launch, which two threads must not do at once."""


def takes(scores: Tensor) -> bool:
    """Whether the kernels handle these scores."""
    fit = scores.is_cuda and scores.dtype != torch.float64 and scores.numel() > 0
    plain = type(scores) in (Tensor, nn.Parameter)  # tensor subclasses define their own operations
    return fit and plain and in_plain_eager() and _switched_on(scores.device)


def check_device(labels: Tensor, scores: Tensor, *, name: str = "labels") -> None:
    """Checks that the labels are on the device of the scores: a kernel cannot read memory of another device."""
    if labels.device != scores.device:
        raise InputError(
            f"`{name}` must be on the device of the scores, {scores.device}, got {labels.device}: move them there."
        )


@functools.cache
def _switched_on(device: torch.device) -> bool:
    """Whether kernels are enabled and can be compiled: Triton needs a C compiler, which not every machine has."""
    if os.environ.get("ONEPEAK_FUSED", "1") == "0" or importlib.util.find_spec("triton") is None:
        return False
    try:
        scale(torch.ones(1, device=device), torch.ones((), device=device))
    except Exception as error:  # a compiler can fail in many ways
        warnings.warn(
            f"Triton cannot compile kernels here ({error!r}). Losses run without them: slower, with the same results. "
            "Set ONEPEAK_FUSED=0 to skip this attempt.",
            stacklevel=2,
        )
        return False
    return True


def scale(gradient: Tensor, factor: Tensor) -> None:
    """Multiplies in place by a factor on the device."""
    from onepeak.kernels import device as device_code

    with LAUNCHING, torch.cuda.device_of(gradient):
        device_code.scale_in_place[(ceil(gradient.numel(), 8192),)](
            gradient, factor, gradient.numel(), COLUMNS=8192, num_warps=8
        )


@functools.cache
def tile(batch: int, classes: int) -> tuple[int, int]:
    """The rows and columns that one program processes if rows are short.

    A batch that fits one tile takes one program, which saves the sum over programs. A larger batch is spread over
    enough programs to keep the device busy.
    """
    rows, columns = power_of_two(batch), power_of_two(classes)
    if rows * columns <= TILE:
        return rows, columns
    numbers = min(TILE, max(SMALLEST_TILE, power_of_two(ceil(rows * columns, PROGRAMS))))
    return max(1, numbers // columns), columns


def parts(batch: int, classes: int, columns: int, *, shortest: int) -> tuple[int, int]:
    """How to split a few long rows: the length of a part, a multiple of `columns`, and the number of parts."""
    wanted = min(64, power_of_two(ceil(PROGRAMS, batch)), ceil(classes, shortest))
    length = ceil(ceil(classes, wanted), columns) * columns
    return length, ceil(classes, length)


def warps(numbers: int) -> int:
    """The number of warps for a program with this many scores: one or a few scores per thread."""
    return min(8, max(4, numbers // 128))


def ceil(number: int, divisor: int) -> int:
    """The quotient, rounded up."""
    return -(-number // divisor)


def power_of_two(number: int) -> int:
    """The next power of two."""
    return 1 << max(0, number - 1).bit_length()
