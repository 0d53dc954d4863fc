"""Colour jitter with its own factors, in its own order, for each picture of a batch.

Picture i changes as torchvision's `adjust_*` would change it with the factors i; torchvision takes one factor per call,
which would make a batch a loop. Pictures are floating point from 0 to 1, batch x 3 x height x width.
"""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

_GREY = (0.2989, 0.587, 0.114)  # ITU-R BT.601, to the digits that torchvision uses
_CONTRAST, _SATURATION, _HUE = 1, 2, 3  # positions in Augment.colour_jitter; brightness is 0


def blend(pictures: Tensor, factors: Tensor, *, from_mean: Tensor, from_grey: Tensor) -> Tensor:
    """Moves each picture away from a base by its factor: 0 is the base, 1 the picture itself.

    The base is the mean grey of the picture (contrast), the grey of each pixel (saturation) or black (brightness).

    Args:
        pictures: The batch.
        factors: One factor per picture.
        from_mean: 1 for the pictures that move away from their mean grey, 0 for the others.
        from_grey: 1 for the pictures that move away from their grey, 0 for the others.
    """
    weights = torch.tensor(_GREY, device=pictures.device, dtype=pictures.dtype).view(3, 1, 1)
    grey = (pictures * weights).sum(dim=-3, keepdim=True)
    mean = grey.mean(dim=(-2, -1), keepdim=True)
    base = _each(from_mean) * mean + _each(from_grey) * grey
    return (_each(factors) * pictures + (1 - _each(factors)) * base).clamp_(0, 1)


def turn_hue(pictures: Tensor, shifts: Tensor) -> Tensor:
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
    # What happens to whom at which step is known on the host: one copy, and nothing waits for the device. A picture
    # whose turn it is for hue meets a factor of one, which leaves it as it is.
    chosen = np.take_along_axis(factors, order, axis=1)
    table = np.stack([np.where(order == _HUE, 1.0, chosen), order == _CONTRAST, order == _SATURATION, chosen])
    away, from_mean, from_grey, turn = torch.from_numpy(table).to(result.device, result.dtype).unbind()
    for step in range(order.shape[1]):
        result = blend(result, away[:, step], from_mean=from_mean[:, step], from_grey=from_grey[:, step])
        turning = np.flatnonzero((order[:, step] == _HUE) & (chosen[:, step] != 0))
        if len(turning):
            rows = torch.from_numpy(turning).to(result.device)
            result[rows] = turn_hue(result[rows], turn[rows, step])
    return result.mul_(255).round_().to(torch.uint8)


def _each(values: Tensor) -> Tensor:
    return values.view(-1, 1, 1, 1)
