"""Colour jitter with its own factors for each picture of a batch.

Each function does to picture i what torchvision's `adjust_*` does with the factor i; torchvision takes one factor a
call, which would make a batch a loop. Pictures are floating point from 0 to 1, batch x 3 x height x width.
"""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

_GREY = (0.2989, 0.587, 0.114)  # ITU-R BT.601, to the digits that torchvision uses


def adjust_brightness(pictures: Tensor, factors: Tensor) -> Tensor:
    """Multiplies by the factor: 0 is black, 1 the same."""
    return (pictures * _each(factors)).clamp_(0, 1)


def adjust_contrast(pictures: Tensor, factors: Tensor) -> Tensor:
    """Moves away from the picture's mean grey: 0 is grey, 1 the same."""
    return _between(_grey(pictures).mean(dim=(-3, -2, -1), keepdim=True), pictures, factors)


def adjust_saturation(pictures: Tensor, factors: Tensor) -> Tensor:
    """Moves away from each pixel's grey: 0 is without colour, 1 the same."""
    return _between(_grey(pictures), pictures, factors)


def adjust_hue(pictures: Tensor, shifts: Tensor) -> Tensor:
    """Turns the circle of colours: 0 is the same, 0.5 and -0.5 the opposite colour."""
    red, green, blue = pictures.unbind(-3)
    value, largest = pictures.max(dim=-3)
    spread = value - pictures.amin(dim=-3)
    # A grey pixel has no hue; a spread of one keeps it from dividing by zero, and its spread of zero keeps it grey.
    divisor = torch.where(spread == 0, 1, spread)
    ahead = torch.stack([green - blue, blue - red, red - green], dim=-3).gather(-3, largest.unsqueeze(-3)).squeeze(-3)
    hue = (ahead / divisor + 2 * largest) / 6 + shifts.view(-1, 1, 1)
    # Each colour falls from the value by the spread, as far as its place on the circle is from the hue: the closed
    # form of the six cases of the colour wheel.
    places = torch.tensor([5.0, 3.0, 1.0], device=pictures.device, dtype=pictures.dtype).view(3, 1, 1)
    around = (places + 6 * hue.unsqueeze(-3)).remainder(6)
    fall = torch.minimum(around, 4 - around).clamp_(0, 1)
    return (value.unsqueeze(-3) - spread.unsqueeze(-3) * fall).clamp_(0, 1)


_ADJUSTMENTS = (adjust_brightness, adjust_contrast, adjust_saturation, adjust_hue)


def jitter(pictures: Tensor, factors: npt.NDArray[np.float64], order: npt.NDArray[np.int64]) -> Tensor:
    """Applies brightness, contrast, saturation and hue to each picture, in its own order.

    Args:
        pictures: uint8, batch x 3 x height x width.
        factors: Three factors and the shift of hue, batch x 4.
        order: A permutation of 0 to 3 for each picture, batch x 4.

    Returns:
        uint8, rounded once at the end.

    Example:
        >>> grey = torch.full((1, 3, 1, 1), 100, dtype=torch.uint8)
        >>> jitter(grey, np.array([[1.5, 1.0, 1.0, 0.0]]), np.array([[0, 1, 2, 3]])).flatten()
        tensor([150, 150, 150], dtype=torch.uint8)
    """
    result = pictures.to(torch.float32).div_(255)
    on_device = torch.from_numpy(factors).to(pictures.device, torch.float32)
    changing = (factors != (1, 1, 1, 0)).any(axis=0)
    for step in range(order.shape[1]):
        for kind, adjust in enumerate(_ADJUSTMENTS):
            # Which pictures are meant is known on the host, so choosing them stalls no device.
            chosen = np.flatnonzero(order[:, step] == kind)
            if changing[kind] and len(chosen):
                rows = torch.from_numpy(chosen).to(pictures.device)
                result[rows] = adjust(result[rows], on_device[rows, kind])
    return result.mul_(255).round_().to(torch.uint8)


def _each(factors: Tensor) -> Tensor:
    return factors.view(-1, 1, 1, 1)


def _grey(pictures: Tensor) -> Tensor:
    weights = torch.tensor(_GREY, device=pictures.device, dtype=pictures.dtype).view(3, 1, 1)
    return (pictures * weights).sum(dim=-3, keepdim=True)


def _between(zero: Tensor, pictures: Tensor, factors: Tensor) -> Tensor:
    return (_each(factors) * pictures + (1 - _each(factors)) * zero).clamp_(0, 1)
