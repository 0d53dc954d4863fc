"""Soft labels that decrease with the distance from the label: SORD, exponential, geometric, inverse."""

from typing import Literal, TypeAlias, get_args

import torch
from torch import Tensor

from onepeak._core.check import check_choice, check_num_classes, check_number
from onepeak._core.tensors import PerClass
from onepeak.methods.record import MethodRecord
from onepeak.methods.soft_labels import SoftLabels, distances, mixed

SordDistance: TypeAlias = Literal["squared", "absolute"]


def sord(
    num_classes: int,
    *,
    distance: SordDistance = "squared",
    sharpness: float = 1.0,
    mix: float = 1.0,
    class_weight: PerClass | None = None,
) -> SoftLabels:
    r"""SORD: the softmax of minus a distance.

    .. math:: q_{yk} \propto e^{-s \, \phi(y, k)}, \qquad \phi = (k - y)^2 \text{ or } |k - y|

    Args:
        distance: :math:`\phi`: "squared" or "absolute".
        sharpness: s.
        mix: The share of the soft label; the rest goes to the label itself.

    Example:
        >>> sord(3, distance="absolute").targets[0]
        tensor([0.6652, 0.2447, 0.0900], dtype=torch.float64)

    Reference: Díaz, Marathe, "Soft labels for ordinal regression", CVPR 2019, eq. 1.
    """
    check_choice("distance", distance, get_args(SordDistance))
    apart = distances(check_num_classes(num_classes))
    scores = -check_number("sharpness", sharpness, above=0) * (apart if distance == "absolute" else apart.square())
    return SoftLabels(mixed(scores.softmax(dim=-1), mix), class_weight=class_weight)


def exponential(
    num_classes: int,
    *,
    power: float = 1.0,
    temperature: float = 1.0,
    mix: float = 1.0,
    class_weight: PerClass | None = None,
) -> SoftLabels:
    r"""Exponential soft labels.

    .. math:: q_{yk} \propto e^{-|k - y|^p / \tau}

    Args:
        power: p.
        temperature: :math:`\tau`.
        mix: The share of the soft label; the rest goes to the label itself.

    Example:
        >>> exponential(3).targets[1]
        tensor([0.2119, 0.5761, 0.2119], dtype=torch.float64)

    Reference: Liu et al., "Unimodal regularized neuron stick-breaking for ordinal classification", Neurocomputing
    2020; with a power, Vargas et al., "Exponential loss regularisation for encouraging ordinal constraint to shotgun
    stocks quality assessment", Applied Soft Computing 2023.
    """
    apart = distances(check_num_classes(num_classes)) ** check_number("power", power, above=0)
    scores = -apart / check_number("temperature", temperature, above=0)
    return SoftLabels(mixed(scores.softmax(dim=-1), mix), class_weight=class_weight)


def geometric(num_classes: int, *, smoothing: float = 0.1, class_weight: PerClass | None = None) -> SoftLabels:
    r"""Geometric soft labels: the label keeps a given share, and the rest decays by a constant factor.

    .. math:: q_{yy} = 1 - \alpha, \qquad q_{yk} = \alpha \frac{\alpha^{|k - y|}}{\sum_{j \ne y} \alpha^{|j - y|}}

    Args:
        smoothing: :math:`\alpha`, below one half, so that the label stays the peak.

    Example:
        >>> geometric(3, smoothing=0.1).targets[0]
        tensor([0.9000, 0.0909, 0.0091], dtype=torch.float64)

    Reference: Haas, Hüllermeier, "Rectifying bias in ordinal observational data using unimodal label smoothing", ECML
    PKDD 2023.
    """
    share = check_number("smoothing", smoothing, above=0, below=0.5)
    apart = distances(check_num_classes(num_classes))
    return SoftLabels(_shared_out(share, share**apart), class_weight=class_weight)


def inverse_distance(num_classes: int, *, smoothing: float = 0.1, class_weight: PerClass | None = None) -> SoftLabels:
    r"""Label smoothing by distance: the other classes share the smoothing in proportion to their inverse distance.

    .. math:: q_{yy} = 1 - \epsilon, \qquad q_{yk} = \epsilon \frac{1 / |k - y|}{\sum_{j \ne y} 1 / |j - y|}

    Szegedy et al. 2016 give all other classes the same weight; the inverse distance is our own choice.

    Args:
        smoothing: :math:`\epsilon`, below one half, so that the label stays the peak.

    Example:
        >>> inverse_distance(3, smoothing=0.3).targets[0]
        tensor([0.7000, 0.2000, 0.1000], dtype=torch.float64)

    Reference: Szegedy et al., "Rethinking the inception architecture for computer vision", CVPR 2016.
    """
    share = check_number("smoothing", smoothing, above=0, below=0.5)
    nearness = 1 / distances(check_num_classes(num_classes)).clamp(min=1)  # the label's own is not used
    return SoftLabels(_shared_out(share, nearness), class_weight=class_weight)


def _shared_out(share: float, weights: Tensor) -> Tensor:
    """Gives the label 1 - `share`, and the other classes `share` in proportion to their weights."""
    others = weights - weights.diagonal().diag()
    return share * others / others.sum(dim=-1, keepdim=True) + (1 - share) * torch.eye(len(weights)).double()


SORD = MethodRecord(
    name="sord",
    title="soft labels by distance",
    family="soft-labels",
    reference="Díaz, Marathe 2019, Soft labels for ordinal regression",
    build=sord,
)

SOFT_EXPONENTIAL = MethodRecord(
    name="soft-exponential",
    title="exponential soft labels",
    family="soft-labels",
    reference="Vargas et al. 2023, Exponential loss regularisation for encouraging ordinal constraint",
    build=exponential,
)

SOFT_GEOMETRIC = MethodRecord(
    name="soft-geometric",
    title="geometric soft labels",
    family="soft-labels",
    reference="Haas, Hüllermeier 2023, Rectifying bias in ordinal data using unimodal label smoothing",
    build=geometric,
)

SOFT_INVERSE = MethodRecord(
    name="soft-inverse",
    title="label smoothing by inverse distance",
    family="soft-labels",
    reference="after Szegedy et al. 2016, Rethinking the inception architecture for computer vision",
    build=inverse_distance,
)
