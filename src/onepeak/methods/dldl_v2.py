"""DLDL-v2: a label distribution and its mean (Gao et al. 2018)."""

from typing import final

from onepeak._core.check import check_number
from onepeak._core.tensors import Labels, Outputs, PerClass, PerSample
from onepeak.methods.label_distribution import LabelDistribution
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord
from onepeak.posterior.decide import expected_label


@final
class DistributionAndMean(SoftmaxMethod):
    r"""Fits a Gaussian around the label and, at the same time, the mean of the posterior to the label.

    .. math:: \ell = \mathrm{KL}(q_y \,\|\, p) + \lambda \Big| \sum_k k p_k - y \Big|, \qquad
              q_y(k) \propto e^{-(k - y)^2 / 2 \sigma^2}, \qquad p = \mathrm{softmax}(o)

    The divergence sums over classes and needs no normaliser. Prediction: the mean, rounded, which the second term
    trains. Not one-peaked by construction.

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

    def __init__(
        self,
        num_classes: int,
        *,
        variance: float = 1.0,
        mean_weight: float = 1.0,
        class_weight: PerClass | None = None,
    ) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.distribution = LabelDistribution(num_classes, variance=variance)
        self.mean_weight = check_number("mean_weight", mean_weight, minimum=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """The divergence from the Gaussian plus the weighted error of the mean."""
        divergence = self.distribution.sample_losses(outputs, labels)
        return divergence + self.mean_weight * (expected_label(outputs) - labels).abs()


DLDL_V2 = MethodRecord(
    name="dldl-v2",
    title="label distribution and its mean",
    family="soft-labels",
    reference="Gao et al. 2018, Age estimation using expectation of label distribution learning",
    num_outputs="c",
    build=DistributionAndMean,
)
