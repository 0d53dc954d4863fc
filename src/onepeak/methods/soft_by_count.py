"""Soft labels from distributions of counts: binomial and Poisson."""

import torch

from onepeak._check import check_num_classes
from onepeak._shapes import PerClass
from onepeak.methods.binomial import binomial_scores
from onepeak.methods.poisson import poisson_log_probs
from onepeak.methods.soft_labels import SoftLabels, mixed


def binomial_labels(num_classes: int, *, mix: float = 1.0, class_weight: PerClass | None = None) -> SoftLabels:
    r"""Binomial soft labels: the number of successes in c - 1 trials.

    .. math:: q_{yk} = \binom{c-1}k \pi^k (1 - \pi)^{c-1-k}, \qquad \pi = \frac{y + 1/2}c

    which makes the label the only mode for any number of classes. (dlordinal spaces :math:`\pi` evenly from 0.1 to 0.9:
    with 70 classes, its target for the first class peaks at the seventh.)

    Args:
        num_classes: Number of classes, at least 2.
        mix: The share of the soft label; the rest goes to the label itself.
        class_weight: Weight of each class.

    Example:
        >>> binomial_labels(3).targets[0]
        tensor([0.6944, 0.2778, 0.0278], dtype=torch.float64)

    Reference: Liu et al., "Unimodal regularized neuron stick-breaking for ordinal classification", Neurocomputing 2020.
    """
    chance = (torch.arange(check_num_classes(num_classes), dtype=torch.float64) + 0.5) / num_classes
    scores = binomial_scores(chance.logit().unsqueeze(-1), num_classes)
    return SoftLabels(mixed(scores.softmax(dim=-1), mix), class_weight=class_weight)


def poisson_labels(num_classes: int, *, mix: float = 1.0, class_weight: PerClass | None = None) -> SoftLabels:
    r"""Poisson soft labels: a count with the label as its only mode.

    .. math:: q_{yk} \propto \frac{\lambda^k}{k!}, \qquad \lambda = y + \frac12, \qquad k = 0, \dots, c - 1

    The targets are wider for later labels, so reversing the scale changes them. (dlordinal takes the softmax of the
    probabilities themselves, which makes them nearly uniform, and an integer rate, at which two neighbours tie.)

    Args:
        num_classes: Number of classes, at least 2.
        mix: The share of the soft label; the rest goes to the label itself.
        class_weight: Weight of each class.

    Example:
        >>> poisson_labels(3).targets[0]
        tensor([0.6154, 0.3077, 0.0769], dtype=torch.float64)

    Reference: Liu et al., "Unimodal regularized neuron stick-breaking for ordinal classification", Neurocomputing 2020.
    """
    rates = torch.arange(check_num_classes(num_classes), dtype=torch.float64).unsqueeze(-1) + 0.5
    return SoftLabels(
        mixed(poisson_log_probs(rates.log(), num_classes).softmax(dim=-1), mix), class_weight=class_weight
    )
