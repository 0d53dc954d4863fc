"""Colour jitter with separate factors and a separate order for each image of a batch.

The result equals that of torchvision's `adjust_*` functions, which take one factor per call and would need a loop over
the batch. Images are floating point from 0 to 1, batch x 3 x height x width.
"""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

_GREY = (0.2989, 0.587, 0.114)  # ITU-R BT.601, rounded as in torchvision
_CONTRAST, _SATURATION, _HUE = 1, 2, 3  # positions in Augment.colour_jitter; brightness is 0


def blend(pictures: Tensor, factors: Tensor, *, from_mean: Tensor, from_grey: Tensor) -> Tensor:
    """Blends each image with a base by its factor: 0 gives the base, 1 the image itself.

    The base is the mean grey of the image (contrast), the grey of each pixel (saturation) or black (brightness).

    Args:
        pictures: The batch.
        factors: One factor per image.
        from_mean: 1 for images whose base is their mean grey, 0 for the others.
        from_grey: 1 for images whose base is the grey of each pixel, 0 for the others.
    """
    weights = torch.tensor(_GREY, device=pictures.device, dtype=pictures.dtype).view(3, 1, 1)
    grey = (pictures * weights).sum(dim=-3, keepdim=True)
    mean = grey.mean(dim=(-2, -1), keepdim=True)
    base = _each(from_mean) * mean + _each(from_grey) * grey
    return (_each(factors) * pictures + (1 - _each(factors)) * base).clamp_(0, 1)


def turn_hue(pictures: Tensor, shifts: Tensor) -> Tensor:
    """Rotates the hue: a shift of 0 changes nothing, 0.5 and -0.5 give the opposite colour."""
    red, green, blue = pictures.unbind(-3)
    value, largest = pictures.max(dim=-3)
    spread = value - pictures.amin(dim=-3)
    # A grey pixel has no hue: a divisor of one avoids division by zero, and its spread of zero keeps it grey.
    divisor = torch.where(spread == 0, 1, spread)
    ahead = torch.stack([green - blue, blue - red, red - green], dim=-3).gather(-3, largest.unsqueeze(-3)).squeeze(-3)
    hue = (ahead / divisor + 2 * largest) / 6 + shifts.view(-1, 1, 1)
    # The closed form of the six cases of the colour wheel: each colour is the value minus a part of the spread, which
    # depends on the distance of its place on the circle from the hue.
    places = torch.tensor([5.0, 3.0, 1.0], device=pictures.device, dtype=pictures.dtype).view(3, 1, 1)
    around = (places + 6 * hue.unsqueeze(-3)).remainder(6)
    fall = torch.minimum(around, 4 - around).clamp_(0, 1)
    return (value.unsqueeze(-3) - spread.unsqueeze(-3) * fall).clamp_(0, 1)


def jitter(pictures: Tensor, factors: npt.NDArray[np.float64], order: npt.NDArray[np.int64]) -> Tensor:
    """Applies brightness, contrast, saturation and hue to each image, each in its own order.

    Args:
        pictures: uint8, batch x 3 x height x width.
        factors: Three factors and the shift of hue, batch x 4.
        order: A permutation of 0 to 3 for each image, batch x 4.

    Returns:
        uint8, rounded once at the end.

    Example:
        >>> grey = torch.full((1, 3, 1, 1), 100, dtype=torch.uint8)
        >>> jitter(grey, np.array([[1.5, 1.0, 1.0, 0.0]]), np.array([[0, 1, 2, 3]])).flatten()
        tensor([150, 150, 150], dtype=torch.uint8)
    """
    result = pictures.to(torch.float32).div_(255)
    # The whole schedule is known on the host, so one copy suffices and nothing waits for the device. At its hue step an
    # image is blended with a factor of one, which leaves it unchanged.
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
