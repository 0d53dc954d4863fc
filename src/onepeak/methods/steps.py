"""UnimodalNet and COPOC: positive steps, summed on either side of a peak (Cardoso et al. 2023; Dey et al. 2023)."""

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
    "unimodal-net", "lower of two running sums", "distribution", unimodal=True, build=UnimodalNet
)


@final
class Copoc(SoftmaxMethod):
    r"""Positions that rise from class to class; the closer a position is to zero, the more probable its class.

    .. math:: r_0 = o_0 - \frac{c - 1}2, \qquad r_k = r_{k-1} + |1 + o_k| + \epsilon, \qquad
              p = \mathrm{softmax}(-|r|), \qquad \ell = -\log p_y

    One-peaked by construction, with any shape on either side. Two neighbours at the peak tie if zero lies midway
    between them.

    Two details are ours. First, :math:`\epsilon = 0.01` keeps the posterior strictly one-peaked if a step is 0, up to
    rounding: in float32 it is lost next to positions of 1e5. Second, outputs of 0 give positions one apart and centred
    on zero. If all positions lay on one side of zero, the posterior would not depend on the first output, and a network
    that starts there may predict one class forever.

    Example:
        >>> copoc = Copoc(num_classes=4)
        >>> copoc.class_scores(torch.tensor([[-0.5, 0.0, 1.0, 0.0]]))  # positions -2, -.99, 1.02, 2.03
        tensor([[-1.0100,  0.0000, -0.0300, -1.0400]])

    Reference: Dey, Merugu, Kaveri, "Conformal prediction sets for ordinal classification", NeurIPS 2023.
    """

    def class_scores(self, outputs: Outputs) -> Scores:
        first, steps = widened(outputs).split([1, self.num_classes - 1], dim=-1)
        start = first - (self.num_classes - 1) / 2
        places = torch.cat([start, (1 + steps).abs() + SMALLEST_STEP], dim=-1).cumsum(dim=-1)
        return below_the_peak(-places.abs(), outputs.dtype)


COPOC = MethodRecord("copoc", "steps around a peak", "distribution", unimodal=True, build=Copoc)
