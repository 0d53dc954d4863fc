"""Soft labels: the target is a distribution around the label instead of the label alone."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter
from typing import Any, Literal, final

import torch
from torch import Tensor

from onepeak._core.check import check_choice, check_num_classes, check_number
from onepeak._core.tensors import Labels, Outputs, PerClass, PerSample
from onepeak.errors import InputError
from onepeak.methods.counts import binomial_scores, poisson_log_probs
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.precision import ExactTable
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import settings_of, signature_of


@final
class SoftLabels(SoftmaxMethod):
    r"""Learns a target distribution for each label.

    .. math:: \ell = \mathrm{KL}(q_y \,\|\, p) = \sum_{k=0}^{c-1} q_{yk} \log \frac{q_{yk}}{p_k}, \qquad
              p = \mathrm{softmax}(o)

    The targets are a table with one row per label. `sord`, `triangular` and others build the published tables; you can
    pass any other. Papers often write cross-entropy, which is larger by the entropy of the target and has the same
    gradient; the divergence is 0 when the posterior equals the target. The sum over classes is weighted by a
    distribution and needs no normaliser. Prediction: the mode. Not one-peaked by construction, although all published
    targets here are.

    Args:
        targets: A c x c table; row y is the target distribution of label y and sums to one.

    Example:
        >>> sure_of_the_ends = SoftLabels(torch.tensor([[1.0, 0.0, 0.0], [0.2, 0.6, 0.2], [0.0, 0.0, 1.0]]))
        >>> sure_of_the_ends.loss(torch.zeros(1, 3), torch.tensor([1]))
        tensor(0.1483)
    """

    def __init__(self, targets: Tensor, *, class_weight: PerClass | None = None) -> None:
        check_targets(targets)
        super().__init__(len(targets), class_weight=class_weight)
        self._table = ExactTable(targets)
        self._entropies = ExactTable(-torch.xlogy(targets.double(), targets.double()).sum(dim=-1, keepdim=True))

    @property
    def targets(self) -> Tensor:
        """The table of targets; row y is the target distribution of label y."""
        return self._table.values

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        targets, entropies = (table.rows(labels, outputs.dtype) for table in (self._table, self._entropies))
        return -(targets * outputs.log_softmax(dim=-1)).sum(dim=-1) - entropies.squeeze(-1)


def check_targets(targets: Tensor, *, name: str = "targets") -> None:
    """Checks for a square table whose rows are distributions."""
    if not isinstance(targets, Tensor) or not targets.is_floating_point():
        found = targets.dtype if isinstance(targets, Tensor) else type(targets).__name__
        raise InputError(f"`{name}` must be a floating-point tensor, got {found}.")
    if targets.ndim != 2 or targets.shape[0] != targets.shape[1]:
        raise InputError(f"`{name}` must have one row and one column per class, got shape {tuple(targets.shape)}.")
    if not (targets >= 0).all() or not ((targets.double().sum(dim=-1) - 1).abs() <= 1e-5).all():
        raise InputError(f"`{name}` must be distributions: every row non-negative with a sum of 1.")


SOFT_LABELS: list[MethodRecord] = []
"""The records of the tables in this file, in their order."""


def soft_labels(
    name: str, title: str, *, mixes: bool = True
) -> Callable[[Callable[..., Tensor]], Callable[..., SoftLabels]]:
    """Makes a method of a function that builds a table of targets from the number of classes and settings.

    The method also takes class weights and, with `mixes`, the share of the soft labels; the rest goes to the label
    itself. Its record is kept in `SOFT_LABELS`.
    """

    def decorate(table: Callable[..., Tensor]) -> Callable[..., SoftLabels]:
        @wraps(table)
        def build(
            num_classes: int, *, mix: float = 1.0, class_weight: PerClass | None = None, **settings: Any
        ) -> SoftLabels:
            targets = table(check_num_classes(num_classes), **settings)
            return SoftLabels(mixed(targets, mix) if mixes else targets, class_weight=class_weight)

        share = [Parameter("mix", Parameter.KEYWORD_ONLY, default=1.0)] if mixes else []
        build.__signature__ = signature_of([*settings_of(table), *share])  # type: ignore[attr-defined]
        SOFT_LABELS.append(MethodRecord(name, title, "soft-labels", build=build))
        return build

    return decorate


def mixed(soft: Tensor, mix: float) -> Tensor:
    """A share `mix` of the soft targets plus a share 1 - `mix` of the label itself."""
    share = check_number("mix", mix, above=0, maximum=1)
    return share * soft + (1 - share) * torch.eye(len(soft), dtype=soft.dtype)


def distances(num_classes: int) -> Tensor:
    """The distance of each class (column) from each label (row)."""
    classes = torch.arange(num_classes, dtype=torch.float64)
    return (classes - classes.unsqueeze(-1)).abs()


def _shared_out(share: float, weights: Tensor) -> Tensor:
    """Gives the label 1 - `share`, and the other classes `share` in proportion to their weights."""
    others = weights - weights.diagonal().diag()
    return share * others / others.sum(dim=-1, keepdim=True) + (1 - share) * torch.eye(len(weights)).double()


POINTS_IN_A_CLASS = 16
"""The number of points per class at which the beta density is summed."""


@soft_labels("sord", "soft labels by distance")
def sord(num_classes: int, *, distance: Literal["squared", "absolute"] = "squared", sharpness: float = 1.0) -> Tensor:
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
    check_choice("distance", distance, ("squared", "absolute"))
    apart = distances(num_classes)
    scores = -check_number("sharpness", sharpness, above=0) * (apart if distance == "absolute" else apart.square())
    return scores.softmax(dim=-1)


@soft_labels("soft-exponential", "exponential soft labels")
def exponential(num_classes: int, *, power: float = 1.0, temperature: float = 1.0) -> Tensor:
    r"""Exponential soft labels.

    .. math:: q_{yk} \propto e^{-|k - y|^p / \tau}

    Args:
        power: p.
        temperature: :math:`\tau`.
        mix: The share of the soft label; the rest goes to the label itself.

    Example:
        >>> exponential(3).targets[1]
        tensor([0.2119, 0.5761, 0.2119], dtype=torch.float64)

    Reference: Vargas et al., "Exponential loss regularisation for encouraging ordinal constraint to shotgun stocks
    quality assessment", Applied Soft Computing 2023; with a power of 1, Liu et al., "Unimodal regularized neuron
    stick-breaking for ordinal classification", Neurocomputing 2020.
    """
    apart = distances(num_classes) ** check_number("power", power, above=0)
    scores = -apart / check_number("temperature", temperature, above=0)
    return scores.softmax(dim=-1)


@soft_labels("soft-geometric", "geometric soft labels", mixes=False)
def geometric(num_classes: int, *, smoothing: float = 0.1) -> Tensor:
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
    apart = distances(num_classes)
    return _shared_out(share, share**apart)


@soft_labels("soft-inverse", "label smoothing by inverse distance", mixes=False)
def inverse_distance(num_classes: int, *, smoothing: float = 0.1) -> Tensor:
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
    nearness = 1 / distances(num_classes).clamp(min=1)  # the label's own is not used
    return _shared_out(share, nearness)


@soft_labels("soft-triangular", "triangular soft labels")
def triangular(num_classes: int, *, outside: float = 0.01) -> Tensor:
    r"""Triangular soft labels: a triangle over the label's interval that extends into the adjacent intervals.

    The peak is in the middle of the interval. A share :math:`\alpha` of the mass lies beyond each side of the interval,
    so half the width of the triangle is :math:`\frac12 / (1 - \sqrt{2 \alpha})`. For the first and the last class the
    peak is at the end of the scale, and the width :math:`1 / (1 - \sqrt \alpha)` puts the same share beyond the one
    inner side. (The paper uses a separate share for the end classes.)

    Args:
        outside: :math:`\alpha`, below one half.
        mix: The share of the soft label; the rest goes to the label itself.

    Example:
        >>> triangular(4, outside=0.1).targets[:2]
        tensor([[0.9000, 0.1000, 0.0000, 0.0000],
                [0.1000, 0.8000, 0.1000, 0.0000]], dtype=torch.float64)

    Reference: Vargas, Gutiérrez, Barbero-Gómez, Hervás-Martínez, "Soft labelling based on triangular distributions for
    ordinal classification", Information Fusion 2023.
    """
    share = check_number("outside", outside, above=0, below=0.5)
    peaks = torch.arange(num_classes, dtype=torch.float64) + 0.5
    peaks[0], peaks[-1] = 0, num_classes
    half_widths = torch.full_like(peaks, 0.5 / (1 - (2 * share) ** 0.5))
    half_widths[[0, -1]] = 1 / (1 - share**0.5)
    edges = torch.arange(num_classes + 1, dtype=torch.float64)
    place = ((edges - peaks.unsqueeze(-1)) / half_widths.unsqueeze(-1)).clamp(-1, 1)
    below = torch.where(place < 0, (1 + place).square() / 2, 1 - (1 - place).square() / 2)
    masses = below.diff(dim=-1)
    return masses / masses.sum(dim=-1, keepdim=True)


@soft_labels("soft-beta", "beta soft labels")
def beta(num_classes: int, *, deviation: float = 0.5) -> Tensor:
    r"""Beta soft labels: a beta density on the scale from 0 to 1, summed over the interval of each class.

    Its mean is the middle of the label's interval, its standard deviation :math:`\sigma` classes:

    .. math:: m = \frac{y + 1/2}c, \qquad a + b = \frac{m (1 - m)}{(\sigma / c)^2} - 1, \qquad a = m (a + b)

    For the end classes it is narrower if necessary, so that a and b are at least 1 and the density is bounded. With the
    default deviation, a and b equal the published table for the inner classes of five and are close to it elsewhere;
    the table ends at 14 classes. The density is summed at 16 points per interval, with an error of about 1e-3.

    Args:
        deviation: :math:`\sigma`, in classes, below 0.8, so that the label stays the peak.
        mix: The share of the soft label; the rest goes to the label itself.

    Example:
        >>> beta(5).targets[2]
        tensor([5.8976e-04, 1.6291e-01, 6.7301e-01, 1.6291e-01, 5.8976e-04],
               dtype=torch.float64)

    Reference: Vargas, Gutiérrez, Hervás-Martínez, "Unimodal regularisation based on beta distribution for deep ordinal
    regression", Pattern Recognition 2022.
    """
    width = check_number("deviation", deviation, above=0, below=0.8) / num_classes
    means = (torch.arange(num_classes, dtype=torch.float64).unsqueeze(-1) + 0.5) / num_classes
    total = (means * (1 - means) / width**2 - 1).maximum(1 / means).maximum(1 / (1 - means))
    num_points = num_classes * POINTS_IN_A_CLASS
    points = (torch.arange(num_points, dtype=torch.float64) + 0.5) / num_points
    log_density = (means * total - 1) * points.log() + ((1 - means) * total - 1) * torch.log1p(-points)
    return log_density.softmax(dim=-1).reshape(num_classes, num_classes, POINTS_IN_A_CLASS).sum(dim=-1)


@soft_labels("soft-binomial", "binomial soft labels")
def binomial_labels(num_classes: int) -> Tensor:
    r"""Binomial soft labels: the number of successes in c - 1 trials.

    .. math:: q_{yk} = \binom{c-1}k \pi^k (1 - \pi)^{c-1-k}, \qquad \pi = \frac{y + 1/2}c

    which makes the label the only mode for any number of classes. (dlordinal spaces :math:`\pi` evenly from 0.1 to 0.9:
    with 70 classes, its target for the first class peaks at the seventh.)

    Args:
        mix: The share of the soft label; the rest goes to the label itself.

    Example:
        >>> binomial_labels(3).targets[0]
        tensor([0.6944, 0.2778, 0.0278], dtype=torch.float64)

    Reference: Liu et al., "Unimodal regularized neuron stick-breaking for ordinal classification", Neurocomputing 2020.
    """
    chance = (torch.arange(num_classes, dtype=torch.float64) + 0.5) / num_classes
    return binomial_scores(chance.logit().unsqueeze(-1), num_classes).softmax(dim=-1)


@soft_labels("soft-poisson", "Poisson soft labels")
def poisson_labels(num_classes: int) -> Tensor:
    r"""Poisson soft labels: a count with the label as its only mode.

    .. math:: q_{yk} \propto \frac{\lambda^k}{k!}, \qquad \lambda = y + \frac12, \qquad k = 0, \dots, c - 1

    The targets are wider for later labels, so reversing the scale changes them. (dlordinal takes the softmax of the
    probabilities themselves, which makes them nearly uniform, and an integer rate, at which two neighbours tie.)

    Args:
        mix: The share of the soft label; the rest goes to the label itself.

    Example:
        >>> poisson_labels(3).targets[0]
        tensor([0.6154, 0.3077, 0.0769], dtype=torch.float64)

    Reference: Liu et al., "Unimodal regularized neuron stick-breaking for ordinal classification", Neurocomputing 2020.
    """
    rates = torch.arange(num_classes, dtype=torch.float64).unsqueeze(-1) + 0.5
    return poisson_log_probs(rates.log(), num_classes).softmax(dim=-1)
