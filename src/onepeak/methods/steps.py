"""Scores of heads with one peak by construction: neighbours stay apart, in steps that are never zero."""

import torch
from torch import Tensor

SMALLEST_STEP = 0.01
"""Added to every step, so that neighbours differ in float32 too: without it an output of 0, or one so low that its
softplus is 0, would be a tie."""


def widened(outputs: Tensor) -> Tensor:
    """In float64 where the device has it: neighbours near the peak differ by less than the terms of their sums."""
    return outputs if outputs.device.type == "mps" else outputs.double()


def below_the_peak(scores: Tensor, dtype: torch.dtype) -> Tensor:
    """Scores less their greatest, so that those near the peak keep their digits in a narrower type."""
    return (scores - scores.amax(dim=-1, keepdim=True).detach()).to(dtype)
