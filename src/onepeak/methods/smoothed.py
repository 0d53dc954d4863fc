"""Smoothed: averages the outputs of neighbouring classes, for any method (onepeak's own method)."""

from typing import Any, final

import torch
from torch import nn
from torch.nn import functional as F

from onepeak._core.check import check_integer, check_scores
from onepeak._core.tensors import Outputs, PerClass, full_precision, real_tensors
from onepeak.errors import InputError
from onepeak.methods.method import Method, Wrapped
from onepeak.methods.precision import ExactTable
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import with_settings_of
from onepeak.methods.slopes import Slopes

MOST_TABLED = 512
"""Up to this many outputs, the averages are one product with a table, whose time is quadratic in their number."""


@final
class SmoothScores(nn.Module):
    r"""A layer that averages the outputs of a network over their neighbours at every scale.

    .. math:: o_k = \frac1{m+1} \Big( u_k + \sum_{i=0}^{m-1} \mathrm{mean} \, \{ u_j : |j - k| \le 2^i \} \Big),
              \qquad 2^{m-1} < n

    where u are the n outputs of the last layer. The questions "aged 31?" and "aged 32?" have nearly the same answer,
    yet each output of a network learns separately. With averaging, all outputs learn from every sample: distant ones
    learn the approximate position of the label, close ones the exact position. All scales have equal weight, so there
    is no width to tune, for 5 classes or for 100. Scores that change little from one class to the next also have fewer
    peaks. The averaging is invertible, so the network can still represent any scores. It has no parameters.

    Args:
        num_outputs: The number of outputs, n: of a network with one score per class, the number of classes.

    Example:
        >>> network = nn.Sequential(nn.Linear(16, 70), SmoothScores(70))
        >>> network(torch.zeros(2, 16)).shape
        torch.Size([2, 70])
        >>> SmoothScores(3)(torch.tensor([0.0, 6.0, 0.0]))
        tensor([1.6667, 3.3333, 1.6667])
    """

    def __init__(self, num_outputs: int) -> None:
        super().__init__()
        self.num_outputs = check_integer("num_outputs", num_outputs, minimum=1)
        with real_tensors():
            self.weights = ExactTable(smoothed(torch.eye(num_outputs).double())) if num_outputs <= MOST_TABLED else None

    def forward(self, outputs: Outputs) -> Outputs:
        """The averaged outputs, at least in float32. The outputs of one sample are the last axis."""
        check_scores(outputs, self.num_outputs, name="outputs")
        outputs = full_precision(outputs)
        if self.weights is None:
            return smoothed(outputs)
        kind = outputs.device.type
        table = self.weights.values.to(outputs.device)  # moves the table of a method left on the CPU
        if kind == "cuda":  # TF32 would round float32 products to ten bits
            return (outputs.double() @ table).to(outputs.dtype)
        weights = table.to(outputs.dtype)
        if not (torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)):
            return outputs @ weights
        with torch.autocast(kind, enabled=False):  # autocast would round to eight bits
            return outputs @ weights

    def extra_repr(self) -> str:
        return f"{self.num_outputs}"


@final
class Smoothed(Wrapped):
    r"""A base method on outputs that are averaged over their neighbours, in training and prediction.

    .. math:: \ell = \ell_{base}(o, y), \qquad p = p_{base}(o)

    where o are the network's outputs after `SmoothScores`.

    Args:
        base: A method with one output per class or per level. Posterior and prediction are those of the base.

    Example:
        >>> smooth = Smoothed(Slopes(num_classes=4))
        >>> smooth.class_scores(torch.tensor([3.0, -3.0, -3.0]))
        tensor([ 0.0000,  0.6667, -1.0000, -3.3333])
    """

    def __init__(self, base: Method) -> None:
        super().__init__(base)
        if base.num_outputs < base.num_classes - 1:
            raise InputError(
                f"`base` must have one output per class or level, got {type(base).__name__} with "
                f"{base.num_outputs}: there are no neighbours to average over."
            )
        self.smooth = SmoothScores(base.num_outputs)

    def base_outputs(self, outputs: Outputs) -> Outputs:
        averages: Outputs = self.smooth(outputs)
        return averages


@with_settings_of(Slopes)
def smooth_slopes(num_classes: int, *, class_weight: PerClass | None = None, **settings: Any) -> Smoothed:
    """`Slopes` on outputs that are averaged over neighbouring levels, with its settings.

    Slopes that change little from one level to the next tend to change sign only once, which gives one peak.
    """
    return Smoothed(Slopes(num_classes, class_weight=class_weight, **settings))


def smoothed(outputs: Outputs) -> Outputs:
    """The mean of the outputs and of their averages over 3, 5, 9, ... neighbours, fewer at both ends.

    The sum over twice the reach on one side is the sum of two sums over the reach, so it takes log2(n) steps.
    """
    length = outputs.shape[-1]
    num_before = torch.arange(length, device=outputs.device)
    num_after = num_before.flip(0)
    before, after = _shifted(outputs, 1), _shifted(outputs, -1)  # the sums of the next `reach` outputs on either side
    total, scales, reach = outputs, 1, 1
    while reach < length:
        total = total + (before + outputs + after) / (1 + num_before.clamp(max=reach) + num_after.clamp(max=reach))
        before, after = before + _shifted(before, reach), after + _shifted(after, -reach)
        scales, reach = scales + 1, 2 * reach
    return total / scales


def _shifted(values: Outputs, steps: int) -> Outputs:
    """The values shifted along the last axis and padded with zeros."""
    return F.pad(values, (steps, -steps))


SMOOTH_SLOPES = MethodRecord(
    "smooth-slopes",
    "slopes whose neighbours learn together",
    "levels",
    reference="onepeak",
    num_outputs="c-1",
    build=smooth_slopes,
)
