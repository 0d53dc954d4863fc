"""MV and mean-residue: the mean close to the label, and little spread (Pan et al. 2018; Zhao et al. 2022)."""

from typing import final

import torch

from onepeak._core.tensors import Labels, Outputs, PerSample
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.methods.method import SoftmaxMethod, Variant, offsets_from
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import choice, number
from onepeak.posterior.decide import expected_label


@final
class MeanVariance(SoftmaxMethod):
    r"""Cross-entropy plus terms for a mean close to the label and a small variance.

    .. math:: \ell = -\log p_y + \frac{\lambda_1}2 (m - y)^2 + \lambda_2 \sum_k p_k (k - m)^2,
              \qquad m = \sum_k k p_k

    where p is the softmax of the outputs. Nothing is divided by the number of classes. Prediction: the mean, rounded.
    `as_published` takes the floor of the mean instead, which is half a class too low on average and hardly ever reaches
    the last class.

    Args:
        mean_weight: :math:`\lambda_1`.
        variance_weight: :math:`\lambda_2`.
        variant: "corrected" or "as_published".

    Example:
        >>> mv = MeanVariance(num_classes=3)
        >>> mv.loss(torch.tensor([[0.0, 0.0, 0.0]]), torch.tensor([0]))
        tensor(1.2319)

    Reference: Pan, Han, Shan, Chen, "Mean-variance loss for deep age estimation from a face", CVPR 2018, eq. 3-7.
    """

    mean_weight: float = number(0.2, minimum=0)
    variance_weight: float = number(0.05, minimum=0)
    variant: Variant = choice("corrected", "as_published")

    def setup(self) -> None:
        self.decision = "mean" if self.variant == "corrected" else "floor_of_mean"

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        average = expected_label(outputs)
        variance = (outputs.softmax(dim=-1) * offsets_from(average, self.num_classes).square()).sum(dim=-1)
        mean_term = 0.5 * (average - labels).square()
        return cross_entropy(outputs, labels) + self.mean_weight * mean_term + self.variance_weight * variance


MV = MethodRecord("mv", "mean-variance", "distance", as_published="differs", build=MeanVariance)


@final
class MeanResidue(SoftmaxMethod):
    r"""Cross-entropy plus terms for a mean close to the label and for the entropy of the classes behind the label.

    .. math:: \ell = -\log p_y + \frac{\lambda_1}2 (m - y)^2 - \lambda_2 \sum_{k \,:\, p_k < p_y} p_k \log p_k,
              \qquad m = \sum_k k p_k

    Unlike the variance of mean-variance, the residue leaves classes at least as probable as the label alone: it only
    thins the tail. Prediction: the mean, rounded.

    Args:
        mean_weight: :math:`\lambda_1`.
        residue_weight: :math:`\lambda_2`.

    Example:
        >>> mean_residue = MeanResidue(num_classes=3)
        >>> mean_residue.loss(torch.zeros(1, 3), torch.tensor([0]))  # log 3 + 0.1 (1 - 0)^2, no class below the label
        tensor(1.1986)

    Reference: Zhao, Qian, Hou, Zeng, "Adaptive mean-residue loss for robust facial age estimation", ICME 2022.
    """

    decision = "mean"
    mean_weight: float = number(0.2, minimum=0)
    residue_weight: float = number(0.05, minimum=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        log_probs = outputs.log_softmax(dim=-1)
        behind = log_probs < log_probs.gather(-1, labels.unsqueeze(-1))
        residue = -torch.where(behind, log_probs.exp() * log_probs, 0).sum(dim=-1)
        mean_term = 0.5 * (expected_label(outputs) - labels).square()
        return cross_entropy(outputs, labels) + self.mean_weight * mean_term + self.residue_weight * residue


MEAN_RESIDUE = MethodRecord("mean-residue", "mean and residue", "distance", build=MeanResidue)
