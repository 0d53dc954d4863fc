"""Helpers for methods with one peak by construction: scores whose steps are never zero."""

import torch
from torch import Tensor

SMALLEST_STEP = 0.01
"""Added to every step, so that neighbours differ in float32 too: otherwise an output that gives a step of 0 would be a
tie."""


def widened(outputs: Tensor) -> Tensor:
    """The outputs in float64, if the device has it: scores near the peak are close differences of large sums."""
    return outputs if outputs.device.type == "mps" else outputs.double()


def below_the_peak(scores: Tensor, dtype: torch.dtype) -> Tensor:
    """Shifts scores to a maximum of 0, so that those near the peak keep their precision in a narrower dtype."""
    return (scores - scores.amax(dim=-1, keepdim=True).detach()).to(dtype)
