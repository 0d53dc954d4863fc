"""A Gaussian read at the classes: the posterior of methods whose network says a place on the scale."""

import torch
from torch import Tensor

from onepeak._shapes import PerSample, Scores
from onepeak.methods.steps import below_the_peak, widened


def gaussian_scores(mean: PerSample, deviation: PerSample | float, num_classes: int) -> Scores:
    r"""Log-density of a Gaussian at every class, less its greatest: :math:`-(k - m)^2 / 2 \sigma^2` up to a constant.

    Written as :math:`k (m - k / 2) / \sigma^2`, without the square of a mean far off the scale, in which the classes'
    differences would drown.

    Args:
        mean: In classes, 0 to c - 1, or off the scale.
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
    """A number around -1 to 1 as a place on the scale of classes: -1 is the first, 0 the middle, 1 the last."""
    return (output + 1) * (num_classes - 1) / 2
