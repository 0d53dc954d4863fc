"""How the kernels are launched: whether, in what pieces, and one after another.

Set the environment variable ONEPEAK_FUSED=0 to go without them.
"""

import functools
import importlib.util
import os
import threading
import warnings

import torch
from torch import Tensor, nn

from onepeak._check import in_plain_eager
from onepeak.errors import InputError

LONGEST_ROW = 4096
"""Numbers of one row that fit the registers of a program."""

TILE = 1024
"""Numbers that one program takes at most when rows are short."""

SMALLEST_TILE = 128
"""Numbers that one program takes at least: fewer would leave threads idle."""

PROGRAMS = 1056
"""Programs that keep a large GPU busy: eight for each of 132 multiprocessors."""

LAUNCHING = threading.Lock()
"""Triton builds a kernel when it is first launched, and must not be asked for it by two threads at once."""


def takes(scores: Tensor) -> bool:
    """Whether these scores are worked out by kernels."""
    fit = scores.is_cuda and scores.dtype != torch.float64 and scores.numel() > 0
    plain = type(scores) in (Tensor, nn.Parameter)  # other kinds of tensors have ways of their own
    return fit and plain and in_plain_eager() and _switched_on(scores.device)


def check_device(labels: Tensor, scores: Tensor, *, name: str = "labels") -> None:
    """Labels where the scores are: to a kernel, memory of another device is no memory at all."""
    if labels.device != scores.device:
        raise InputError(
            f"`{name}` must be on the device of the scores, {scores.device}, got {labels.device}: move them there."
        )


@functools.cache
def _switched_on(device: torch.device) -> bool:
    """Whether kernels are wanted and can be built: Triton needs a C compiler, which not every machine has."""
    if os.environ.get("ONEPEAK_FUSED", "1") == "0" or importlib.util.find_spec("triton") is None:
        return False
    try:
        scale(torch.ones(1, device=device), torch.ones((), device=device))
    except Exception as error:  # whatever a compiler can meet
        warnings.warn(
            f"Triton cannot build kernels here, so losses run without them, slower but the same: {error!r}. "
            "Set ONEPEAK_FUSED=0 to leave out this try.",
            stacklevel=2,
        )
        return False
    return True


def scale(gradient: Tensor, factor: Tensor) -> None:
    """Multiplies in place by a number on the device."""
    from onepeak.kernels import device_code

    with LAUNCHING, torch.cuda.device_of(gradient):
        device_code.scale_in_place[(ceil(gradient.numel(), 8192),)](
            gradient, factor, gradient.numel(), COLUMNS=8192, num_warps=8
        )


@functools.cache
def tile(batch: int, classes: int) -> tuple[int, int]:
    """Rows and columns that one program takes of short rows.

    A batch that fits one tile is one program's, which spares the sum over programs. A larger one is spread over as many
    programs as keep the device busy.
    """
    rows, columns = power_of_two(batch), power_of_two(classes)
    if rows * columns <= TILE:
        return rows, columns
    numbers = min(TILE, max(SMALLEST_TILE, power_of_two(ceil(rows * columns, PROGRAMS))))
    return max(1, numbers // columns), columns


def parts(batch: int, classes: int, columns: int, *, shortest: int) -> tuple[int, int]:
    """How long rows are split where they are few: the length of a part, a multiple of the columns, and their number."""
    wanted = min(64, power_of_two(ceil(PROGRAMS, batch)), ceil(classes, shortest))
    length = ceil(ceil(classes, wanted), columns) * columns
    return length, ceil(classes, length)


def warps(numbers: int) -> int:
    """Warps of a program that takes so many numbers: a number a thread, or a few."""
    return min(8, max(4, numbers // 128))


def ceil(number: int, divisor: int) -> int:
    """The quotient, rounded up."""
    return -(-number // divisor)


def power_of_two(number: int) -> int:
    """The next power of two."""
    return 1 << max(0, number - 1).bit_length()
