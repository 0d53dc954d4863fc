"""UC: a posterior in order, and no wider than its error (Li et al. 2022)."""

from typing import final

import torch

from onepeak._check import check_number
from onepeak._shapes import Labels, Outputs, PerClass, PerSample
from onepeak.constraints.gaps import signed_gaps
from onepeak.methods.softmax import SoftmaxMethod
from onepeak.posterior.decide import expected_label

WIDTH_OF_A_CLASS = 1 / 12
"""The variance of a class that is an interval of length 1 (Sheppard's correction): without it a posterior with all its
mass on one class would have a variance of 0 and a loss of minus infinity."""


@final
class UnimodalConcentrated(SoftmaxMethod):
    r"""The log-likelihood of a Gaussian with the posterior's mean and variance, and a hinge on each pair of neighbours.

    .. math:: \ell = \frac12 \log v + \frac{(m - y)^2}{2 v} + \lambda \sum_{k=0}^{c-2} \max(0, \Delta_k), \qquad
              m = \sum_k k p_k, \qquad v = \frac1{12} + \sum_k p_k (k - m)^2

    with p the softmax of the outputs and :math:`\Delta_k` the signed differences of neighbouring probabilities. The
    sum is over the c - 1 pairs. The width of the posterior is learnt: narrow where the mean is right, wide where it is
    not. Prediction: the mean, rounded. Not one-peaked by construction.

    Written from the paper (its authors' code is not public); the 1/12 is ours and keeps the loss from falling without
    bound. At its least it is slightly negative.

    Args:
        num_classes: Number of classes, at least 2.
        weight: :math:`\lambda`. Implementations of the paper take 1000; on few data a flat posterior, which breaks no
            order, is then the best that short training finds.
        class_weight: A weight of each class.

    Example:
        >>> uc = UnimodalConcentrated(num_classes=2, weight=0.0)
        >>> uc.loss(torch.zeros(1, 2), torch.tensor([0]))  # mean 1/2, variance 1/4 + 1/12
        tensor(-0.1743)

    Reference: Li et al., "Unimodal-concentrated loss: fully adaptive label distribution learning for ordinal
    regression", CVPR 2022.
    """

    decision = "mean"

    def __init__(self, num_classes: int, *, weight: float = 10.0, class_weight: PerClass | None = None) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.weight = check_number("weight", weight, minimum=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """The concentrated loss and the hinges, summed."""
        probs, average = outputs.softmax(dim=-1), expected_label(outputs)
        distances = torch.arange(self.num_classes, device=outputs.device) - average.unsqueeze(-1)
        variance = WIDTH_OF_A_CLASS + (probs * distances.square()).sum(dim=-1)
        concentrated = 0.5 * variance.log() + (average - labels).square() / (2 * variance)
        return concentrated + self.weight * signed_gaps(probs, labels).relu().sum(dim=-1)
