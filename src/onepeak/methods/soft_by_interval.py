"""Soft labels from a density over the scale, where each class is an interval: triangular and beta."""

import torch

from onepeak._check import check_num_classes, check_number
from onepeak._shapes import PerClass
from onepeak.methods.soft_labels import SoftLabels, mixed

POINTS_IN_A_CLASS = 16
"""The number of points per class at which the beta density is summed."""


def triangular(
    num_classes: int, *, outside: float = 0.01, mix: float = 1.0, class_weight: PerClass | None = None
) -> SoftLabels:
    r"""Triangular soft labels: a triangle over the label's interval that extends into the adjacent intervals.

    The peak is in the middle of the interval. A share :math:`\alpha` of the mass lies beyond each side of the interval,
    so half the width of the triangle is :math:`\frac12 / (1 - \sqrt{2 \alpha})`. For the first and the last class the
    peak is at the end of the scale, and the width :math:`1 / (1 - \sqrt \alpha)` puts the same share beyond the one
    inner side. (The paper uses a separate share for the end classes.)

    Args:
        num_classes: Number of classes, at least 2.
        outside: :math:`\alpha`, below one half.
        mix: The share of the soft label; the rest goes to the label itself.
        class_weight: Weight of each class.

    Example:
        >>> triangular(4, outside=0.1).targets[:2]
        tensor([[0.9000, 0.1000, 0.0000, 0.0000],
                [0.1000, 0.8000, 0.1000, 0.0000]], dtype=torch.float64)

    Reference: Vargas, Gutiérrez, Barbero-Gómez, Hervás-Martínez, "Soft labelling based on triangular distributions for
    ordinal classification", Information Fusion 2023.
    """
    check_num_classes(num_classes)
    share = check_number("outside", outside, above=0, below=0.5)
    peaks = torch.arange(num_classes, dtype=torch.float64) + 0.5
    peaks[0], peaks[-1] = 0, num_classes
    half_widths = torch.full_like(peaks, 0.5 / (1 - (2 * share) ** 0.5))
    half_widths[[0, -1]] = 1 / (1 - share**0.5)
    edges = torch.arange(num_classes + 1, dtype=torch.float64)
    place = ((edges - peaks.unsqueeze(-1)) / half_widths.unsqueeze(-1)).clamp(-1, 1)
    below = torch.where(place < 0, (1 + place).square() / 2, 1 - (1 - place).square() / 2)
    masses = below.diff(dim=-1)
    return SoftLabels(mixed(masses / masses.sum(dim=-1, keepdim=True), mix), class_weight=class_weight)


def beta(
    num_classes: int, *, deviation: float = 0.5, mix: float = 1.0, class_weight: PerClass | None = None
) -> SoftLabels:
    r"""Beta soft labels: a beta density on the scale from 0 to 1, summed over the interval of each class.

    Its mean is the middle of the label's interval, its standard deviation :math:`\sigma` classes:

    .. math:: m = \frac{y + 1/2}c, \qquad a + b = \frac{m (1 - m)}{(\sigma / c)^2} - 1, \qquad a = m (a + b)

    For the end classes it is narrower if necessary, so that a and b are at least 1 and the density is bounded. With the
    default deviation, a and b equal the published table for the inner classes of five and are close to it elsewhere;
    the table ends at 14 classes. The density is summed at 16 points per interval, with an error of about 1e-3.

    Args:
        num_classes: Number of classes, at least 2.
        deviation: :math:`\sigma`, in classes, below 0.8, so that the label stays the peak.
        mix: The share of the soft label; the rest goes to the label itself.
        class_weight: Weight of each class.

    Example:
        >>> beta(5).targets[2]
        tensor([5.8976e-04, 1.6291e-01, 6.7301e-01, 1.6291e-01, 5.8976e-04],
               dtype=torch.float64)

    Reference: Vargas, Gutiérrez, Hervás-Martínez, "Unimodal regularisation based on beta distribution for deep ordinal
    regression", Pattern Recognition 2022.
    """
    check_num_classes(num_classes)
    width = check_number("deviation", deviation, above=0, below=0.8) / num_classes
    means = (torch.arange(num_classes, dtype=torch.float64).unsqueeze(-1) + 0.5) / num_classes
    total = (means * (1 - means) / width**2 - 1).maximum(1 / means).maximum(1 / (1 - means))
    points = (torch.arange(num_classes * POINTS_IN_A_CLASS, dtype=torch.float64) + 0.5) / (
        num_classes * POINTS_IN_A_CLASS
    )
    log_density = (means * total - 1) * points.log() + ((1 - means) * total - 1) * torch.log1p(-points)
    masses = log_density.softmax(dim=-1).reshape(num_classes, num_classes, POINTS_IN_A_CLASS).sum(dim=-1)
    return SoftLabels(mixed(masses, mix), class_weight=class_weight)
