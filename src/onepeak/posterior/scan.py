"""Running values along the last axis, in operations that every compiler and exporter knows."""

from collections.abc import Callable

import torch
from torch import Tensor

NO_PROBABILITY = -1e30
"""Stands for the logarithm of zero: finite, so that differences are numbers, and within float32, so that exporters do
not make it infinite."""


def scan(values: Tensor, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Each value combined with all before it; `combine` must be associative.

    Reaches twice as far with every pass, so that c values take about log2(c) of them.

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
    """log(exp(first) + exp(second)) of finite numbers.

    In place of `torch.logaddexp`, which is exported to ONNX as this formula word for word, and underflows there.

    Example:
        >>> add_in_log(torch.tensor(-1e4), torch.tensor(-1e4))
        tensor(-9999.3066)
    """
    return torch.maximum(first, second) + (-(first - second).abs()).exp().log1p()
