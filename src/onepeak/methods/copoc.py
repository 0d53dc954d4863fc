"""COPOC: rising positions, scored by minus their distance from zero (Dey et al. 2023)."""

from typing import final

import torch

from onepeak._core.tensors import Outputs, Scores
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.precision import below_the_peak, widened
from onepeak.methods.record import MethodRecord
from onepeak.methods.unimodal_net import SMALLEST_STEP


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


COPOC = MethodRecord(
    name="copoc",
    title="steps around a peak",
    family="distribution",
    reference="Dey, Merugu, Kaveri 2023, Conformal prediction sets for ordinal classification",
    unimodal=True,
    build=Copoc,
)
