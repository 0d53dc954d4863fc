"""A Gaussian evaluated at the classes: the posterior of methods whose network outputs a position on the scale."""

import torch
from torch import Tensor

from onepeak._shapes import PerSample, Scores
from onepeak.methods.steps import below_the_peak, widened


def gaussian_scores(mean: PerSample, deviation: PerSample | float, num_classes: int) -> Scores:
    r"""Log-density of a Gaussian at each class, :math:`-(k - m)^2 / 2 \sigma^2`, shifted to a maximum of 0.

    Computed as :math:`k (m - k / 2) / \sigma^2`, without the square of the mean: for a mean far off the scale it would
    swamp the differences between classes.

    Args:
        mean: In classes, from 0 to c - 1 or beyond.
        deviation: The standard deviation, in classes.
        num_classes: Number of classes.

    Example:
        >>> gaussian_scores(torch.tensor(1.0), 1.0, 3)
        tensor([-0.5000,  0.0000, -0.5000])
    """
    wide = widened(mean)
    classes = torch.arange(num_classes, device=wide.device, dtype=wide.dtype)
    spread = deviation.unsqueeze(-1).to(wide.dtype) if isinstance(deviation, Tensor) else deviation
    return below_the_peak(classes * (wide.unsqueeze(-1) - classes / 2) / spread**2, mean.dtype)


def place_on_scale(output: PerSample, num_classes: int) -> PerSample:
    """Maps an output to a position on the scale of classes: -1 is the first class, 0 the middle, 1 the last."""
    return (output + 1) * (num_classes - 1) / 2
