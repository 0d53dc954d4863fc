"""UnimodalNet: the minimum of a rising and a falling sum (Cardoso et al. 2023)."""

from typing import final

import torch
from torch import Tensor

from onepeak._core.tensors import Outputs, Scores
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.precision import below_the_peak, widened
from onepeak.methods.record import MethodRecord


@final
class UnimodalNet(SoftmaxMethod):
    r"""Positive steps, summed from the first class and from the last; the score is the lower of the two sums.

    .. math:: s_k = \min \Big( \sum_{j \le k} u_j, \sum_{j \ge k} u_j \Big), \qquad
              u_k = \frac{o_k + \sqrt{o_k^2 + 4}}2 + \epsilon, \qquad p = \mathrm{softmax}(s), \qquad \ell = -\log p_y

    One-peaked by construction, and symmetric: reversing the scale mirrors it. Two neighbours at the peak tie if the
    sums cross midway between them. The authors use a ReLU or a softplus for positive steps. This smooth ReLU decays so
    slowly that very low outputs still differ. :math:`\epsilon = 0.01` makes the posterior strictly one-peaked, up to
    rounding: in float32 it is lost next to sums of 1e5.

    Example:
        >>> net = UnimodalNet(num_classes=3)
        >>> net.class_scores(torch.tensor([[0.0, 1.5, 0.0]]))  # steps 1.01, 2.01, 1.01
        tensor([[-2.0100,  0.0000, -2.0100]])

    Reference: Cardoso, Cruz, Albuquerque, "Unimodal distributions for ordinal regression", 2023.
    """

    def class_scores(self, outputs: Outputs) -> Scores:
        steps = positive(widened(outputs)) + SMALLEST_STEP
        rising = steps.cumsum(dim=-1)
        falling = steps.flip(-1).cumsum(dim=-1).flip(-1)
        return below_the_peak(torch.minimum(rising, falling), outputs.dtype)


def positive(x: Tensor) -> Tensor:
    """(x + sqrt(x^2 + 4)) / 2, about x above zero and 1 / -x below; Barron, "Squareplus", 2021."""
    root = (x.square() + 4).sqrt()
    low = x < 0
    return torch.where(low, 2 / (root - torch.where(low, x, 0)), (root + x) / 2)


SMALLEST_STEP = 0.01
"""Added to every step, so that neighbours differ in float32 too: otherwise an output that gives a step of 0 would be a
tie."""


UNIMODAL_NET = MethodRecord(
    name="unimodal-net",
    title="lower of two running sums",
    family="distribution",
    reference="Cardoso, Cruz, Albuquerque 2023, Unimodal distributions for ordinal regression",
    unimodal=True,
    build=UnimodalNet,
)
