"""CO2, HO2, QUL, UC and WU: terms that ask the probabilities to fall away from the label."""

from dataclasses import replace
from functools import partial
from typing import final

from torch import Tensor

from onepeak._core.tensors import Labels, Outputs, PerSample
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.constraints.gaps import signed_gaps
from onepeak.methods.method import SoftmaxMethod, offsets_from
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import choice, number
from onepeak.posterior import project
from onepeak.posterior.decide import expected_label


@final
class Neighbours(SoftmaxMethod):
    r"""Cross-entropy (CO2) or the entropy of the posterior (HO2), plus a hinge on each pair of adjacent classes.

    .. math:: \ell = \ell_{base} + \lambda \sum_{k=0}^{c-2} \max(0, \delta + \Delta_k), \qquad
              \ell_{base} = -\log p_y \text{ or } -\sum_k p_k \log p_k

    where :math:`\Delta_k` is the signed difference of adjacent *probabilities*, negative where they fall away from the
    label. The sum is over the c - 1 pairs. With many classes probabilities are small, and a large margin cannot be met
    far from the label: keep it well below 1/c. With margin 0 the two are the CO and HO of the paper.

    Args:
        base: "cross_entropy" for CO2, "entropy" for HO2.
        weight: :math:`\lambda`. In HO2 the hinges alone determine where the peak is, and must outweigh the entropy, or
            any sharp posterior would be optimal: its default is 10.
        margin: :math:`\delta`, in probability.

    Example:
        >>> import torch
        >>> co2 = Neighbours(num_classes=2, weight=1.0, margin=0.05)
        >>> co2.loss(torch.zeros(1, 2), torch.tensor([0]))  # log 2 + 0.05
        tensor(0.7431)

    Reference: Albuquerque, Cruz, Cardoso, "Ordinal losses for classification of cervical cancer risk", PeerJ Computer
    Science 2021.
    """

    base: str = choice("cross_entropy", "entropy")
    weight: float = number(1.0, minimum=0)
    margin: float = number(0.05, minimum=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        hinges = (self.margin + signed_gaps(outputs.softmax(dim=-1), labels)).relu().sum(dim=-1)
        base = cross_entropy(outputs, labels) if self.base == "cross_entropy" else entropy(outputs)
        return base + self.weight * hinges


def entropy(scores: Tensor) -> PerSample:
    """The entropy of the softmax of the scores."""
    return -(scores.softmax(dim=-1) * scores.log_softmax(dim=-1)).sum(dim=-1)


CO2 = MethodRecord(
    "co2", "cross-entropy and ordered neighbours", "distance", build=Neighbours, fixed={"base": "cross_entropy"}
)

HO2 = replace(
    CO2,
    name="ho2",
    title="entropy and ordered neighbours",
    build=partial(Neighbours, weight=10.0),
    fixed={"base": "entropy"},
)


@final
class QuasiUnimodal(SoftmaxMethod):
    r"""Cross-entropy plus hinges: the label above both neighbours, each neighbour above all classes beyond it.

    .. math:: \ell = -\log p_y + \lambda \sum_{k \ne y} \max(0, \delta + p_k - p_{r(k)}), \qquad
              r(k) = \begin{cases} y & |k - y| = 1 \\ y + \mathrm{sign}(k - y) & |k - y| > 1 \end{cases}

    Far classes may be in any order as long as none rises above the neighbour on its side. The sum is over the c - 1
    other classes. Prediction: the mode. Not one-peaked by construction, and not meant to be.

    This follows the paper's description; its published code compares far classes on the upper side with the label
    itself instead of the neighbour.

    Args:
        weight: :math:`\lambda`.
        margin: :math:`\delta`, in probability.

    Example:
        >>> import torch
        >>> qul = QuasiUnimodal(num_classes=3, weight=1.0, margin=0.0)
        >>> qul.loss(torch.tensor([[0.2, 0.3, 0.5]]).log(), torch.tensor([0]))  # -log .2 + (.3 - .2) + (.5 - .3)
        tensor(1.9094)

    Reference: Albuquerque, Cruz, Cardoso, "Quasi-unimodal distributions for ordinal classification", Mathematics 2022.
    """

    weight: float = number(1.0, minimum=0)
    margin: float = number(0.05, minimum=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        probs = outputs.softmax(dim=-1)
        offsets = offsets_from(labels, self.num_classes)
        above = labels.unsqueeze(-1) + offsets.sign() * (offsets.abs() > 1)
        hinges = (self.margin + probs - probs.gather(-1, above)).relu() * (offsets != 0)
        return cross_entropy(outputs, labels) + self.weight * hinges.sum(dim=-1)


QUL = MethodRecord("qul", "quasi-unimodal", "distance", build=QuasiUnimodal)


WIDTH_OF_A_CLASS = 1 / 12
"""The variance of a uniform interval of length 1, the width of a class (Sheppard's correction). Without it, a posterior
with all its mass on one class would have variance 0 and a loss of minus infinity."""


@final
class UnimodalConcentrated(SoftmaxMethod):
    r"""The negative log-likelihood of a Gaussian with the posterior's mean and variance, plus hinges on adjacent pairs.

    .. math:: \ell = \frac12 \log v + \frac{(m - y)^2}{2 v} + \lambda \sum_{k=0}^{c-2} \max(0, \Delta_k), \qquad
              m = \sum_k k p_k, \qquad v = \frac1{12} + \sum_k p_k (k - m)^2

    where p is the softmax of the outputs and :math:`\Delta_k` are the signed differences of adjacent probabilities. The
    sum is over the c - 1 pairs. The width of the posterior is learnt: narrow where the mean is accurate, wide where it
    is not. Prediction: the mean, rounded.

    This follows the paper; its authors' code is not public. The 1/12 is ours and bounds the loss from below. The
    minimum is slightly negative.

    Args:
        weight: :math:`\lambda`. Implementations of the paper use 1000; with little data, short training then finds only
            a flat posterior, which violates no order.

    Example:
        >>> import torch
        >>> uc = UnimodalConcentrated(num_classes=2, weight=0.0)
        >>> uc.loss(torch.zeros(1, 2), torch.tensor([0]))  # mean 1/2, variance 1/4 + 1/12
        tensor(-0.1743)

    Reference: Li et al., "Unimodal-concentrated loss: fully adaptive label distribution learning for ordinal
    regression", CVPR 2022.
    """

    decision = "mean"
    weight: float = number(10.0, minimum=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        probs, average = outputs.softmax(dim=-1), expected_label(outputs)
        distances = offsets_from(average, self.num_classes)
        variance = WIDTH_OF_A_CLASS + (probs * distances.square()).sum(dim=-1)
        concentrated = 0.5 * variance.log() + (average - labels).square() / (2 * variance)
        return concentrated + self.weight * signed_gaps(probs, labels).relu().sum(dim=-1)


UC = MethodRecord("uc", "unimodal-concentrated", "distance", build=UnimodalConcentrated)


@final
class WassersteinUnimodal(SoftmaxMethod):
    r"""Cross-entropy plus the distance that probability must move to form one peak at the label.

    .. math:: \ell = -\log p_y + \lambda \sum_{k=0}^{c-2} | P_k - Q_k |, \qquad p = \mathrm{softmax}(o)

    where P and Q are the cumulative probabilities of p and of the nearest distribution that rises to the label and
    falls after it. The sum is over the c - 1 levels.

    The paper finds the nearest distribution in the Wasserstein distance, with a linear program per sample. Here it is
    the nearest in squared distance (`onepeak.posterior.project` at the label), computed for the whole batch at once;
    the distance to it is the Wasserstein distance, as in the paper. The gradient passes through the projection, which
    the authors' code treats as a constant.

    Args:
        weight: :math:`\lambda`.

    Example:
        >>> import torch
        >>> wu = WassersteinUnimodal(num_classes=3, weight=1.0)
        >>> wu.loss(torch.tensor([[0.2, 0.5, 0.3]]).log(), torch.tensor([0]))  # nearest: .35 .35 .3
        tensor(1.7594)

    Reference: Cardoso, Cruz, Albuquerque, "Unimodal distributions for ordinal regression", 2023.
    """

    weight: float = number(10.0, minimum=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        log_probs = outputs.log_softmax(dim=-1)
        nearest = project(log_probs, labels)
        levels = (log_probs.exp() - nearest.exp()).cumsum(dim=-1)[..., :-1]
        return cross_entropy(outputs, labels) + self.weight * levels.abs().sum(dim=-1)


WU = MethodRecord("wu", "cross-entropy and the distance to one peak", "constraint", build=WassersteinUnimodal)
