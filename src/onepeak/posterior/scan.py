"""Scans along the last axis, in operations that every compiler and exporter supports."""

from collections.abc import Callable

import torch
from torch import Tensor

NO_PROBABILITY = -1e30
"""Stands for the logarithm of zero. It is finite, so differences are not NaN, and it fits float32, so exporters do not
make it infinite."""


def scan(values: Tensor, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Combines each value with all values before it; `combine` must be associative.

    Each pass doubles the reach, so c values take about log2(c) passes.

    Example:
        >>> scan(torch.tensor([3.0, 5.0, 2.0, 4.0]), torch.minimum)
        tensor([3., 3., 2., 2.])
    """
    reach = 1
    while reach < values.shape[-1]:
        combined = combine(values[..., reach:], values[..., :-reach])
        values = torch.cat([values[..., :reach], combined], dim=-1)
        reach *= 2
    return values


def add_in_log(first: Tensor, second: Tensor) -> Tensor:
    """log(exp(first) + exp(second)) for finite values.

    Replaces `torch.logaddexp`, which is exported to ONNX as exactly this formula and underflows there.

    Example:
        >>> add_in_log(torch.tensor(-1e4), torch.tensor(-1e4))
        tensor(-9999.3066)
    """
    return torch.maximum(first, second) + (-(first - second).abs()).exp().log1p()
