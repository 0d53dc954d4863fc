"""UC: a posterior in order that is as wide as its error (Li et al. 2022)."""

from typing import final

from onepeak._core.tensors import Labels, Outputs, PerSample
from onepeak.constraints.gaps import signed_gaps
from onepeak.methods.method import SoftmaxMethod, offsets_from
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import number
from onepeak.posterior.decide import expected_label

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


UC = MethodRecord(
    name="uc",
    title="unimodal-concentrated",
    family="distance",
    reference="Li et al. 2022, Unimodal-concentrated loss for ordinal regression",
    build=UnimodalConcentrated,
)
