"""LD and DLDL-v2: label distribution learning (Geng 2016; Gao et al. 2017, 2018)."""

import math
from typing import final

import torch
from torch import Tensor

from onepeak._core.tensors import Labels, Outputs, PerSample
from onepeak.methods.method import SoftmaxMethod, Variant, offsets_from
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import choice, number
from onepeak.methods.soft_labels import SoftLabels
from onepeak.posterior.decide import expected_label


@final
class LabelDistribution(SoftmaxMethod):
    r"""Learns a Gaussian around the label instead of the label alone.

    .. math:: \ell = \mathrm{KL}(q_y \,\|\, \mathrm{softmax}(s)), \qquad q_y(k) \propto e^{-(k - y)^2 / 2 \sigma^2}

    The divergence sums over classes and needs no normaliser. `as_published` differs in the target: it applies a softmax
    to the values of the Gaussian density, which makes it nearly uniform. (With 70 classes and variance 1, its maximum
    is .0209 and its minimum .0141, where a Gaussian has .399 and 0.)

    Args:
        variance: :math:`\sigma^2`, in squared class units.
        variant: "corrected" or "as_published".

    Example:
        >>> ld = LabelDistribution(num_classes=3)
        >>> ld.loss(torch.tensor([[-0.5, 0.0, -0.5]]), torch.tensor([1])).abs() < 1e-6
        tensor(True)

    Reference: Geng, "Label distribution learning", TKDE 2016; Gao et al., "Deep label distribution learning with
    label ambiguity", TIP 2017, eq. 3.
    """

    variance: float = number(1.0, above=0)
    variant: Variant = choice("corrected", "as_published")

    def setup(self) -> None:
        self.soft = SoftLabels(self.log_targets(torch.arange(self.num_classes), torch.float64).exp())

    def log_targets(self, labels: Labels, dtype: torch.dtype) -> Tensor:
        """The target distribution of each label, in log space."""
        exponents = -offsets_from(labels, self.num_classes).to(dtype).square() / (2 * self.variance)
        if self.variant == "as_published":
            exponents = exponents.exp() / math.sqrt(2 * math.pi * self.variance)
        return exponents.log_softmax(dim=-1)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return self.soft.sample_losses(outputs, labels)


@final
class DistributionAndMean(SoftmaxMethod):
    r"""Fits a Gaussian around the label and, at the same time, the mean of the posterior to the label.

    .. math:: \ell = \mathrm{KL}(q_y \,\|\, p) + \lambda \Big| \sum_k k p_k - y \Big|, \qquad
              q_y(k) \propto e^{-(k - y)^2 / 2 \sigma^2}, \qquad p = \mathrm{softmax}(o)

    The divergence sums over classes and needs no normaliser. Prediction: the mean, rounded, which the second term
    trains.

    Args:
        variance: :math:`\sigma^2`, in squared class units.
        mean_weight: :math:`\lambda`.

    Example:
        >>> import torch
        >>> dldl = DistributionAndMean(num_classes=3)
        >>> dldl.loss(torch.tensor([[-0.5, 0.0, -0.5]]), torch.tensor([1])).abs() < 1e-6
        tensor(True)

    Reference: Gao, Zhou, Wu, Geng, "Age estimation using expectation of label distribution learning", IJCAI 2018.
    """

    decision = "mean"

    variance: float = number(1.0, above=0)
    mean_weight: float = number(1.0, minimum=0)

    def setup(self) -> None:
        self.distribution = LabelDistribution(self.num_classes, variance=self.variance)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        divergence = self.distribution.sample_losses(outputs, labels)
        return divergence + self.mean_weight * (expected_label(outputs) - labels).abs()


LD = MethodRecord("ld", "label distribution", "soft-labels", as_published="differs", build=LabelDistribution)

DLDL_V2 = MethodRecord("dldl-v2", "label distribution and its mean", "soft-labels", build=DistributionAndMean)
