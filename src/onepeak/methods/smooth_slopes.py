"""Smooth slopes: slopes whose neighbours learn together (our own)."""

from typing import final

import torch
from torch.nn import functional as F

from onepeak._shapes import Labels, LogProbs, Outputs, PerClass, PerSample, Scores
from onepeak.methods.method import Method
from onepeak.methods.slopes import Slopes

MOST_POOLED = 256
"""Up to this many levels pooling is quick; it adds up every window anew, so its time grows with their square."""


@final
class SmoothSlopes(Method):
    r"""`Slopes` of outputs that are averaged over neighbouring levels at every scale.

    .. math:: o_k = \frac1{m+1} \Big( u_k + \sum_{i=0}^{m-1} \mathrm{mean} \, \{ u_j : |j - k| \le 2^i \} \Big),
              \qquad 2^{m-1} < c - 1

    where u are the outputs of the network and o the slopes that are trained and read as in `Slopes`. "Above 31?" and
    "above 32?" have the same answer for all samples but those labelled 32, yet each output of a network learns for
    itself. Averaged, all outputs learn from every sample: the ones far off where about the label is, the near ones
    where exactly. No width is preferred, so that there is none to choose for 5 labels or for 100. And slopes that
    change little from one level to the next change their sign once: the posterior has one peak.

    Args:
        num_classes: Number of classes, at least 2.
        weight: The weight of cross-entropy on the accumulated scores.
        temperature: That of the posterior; the loss does not use it.
        class_weight: A weight of each class.

    Example:
        >>> smooth = SmoothSlopes(num_classes=4)
        >>> smooth.class_scores(torch.tensor([3.0, -3.0, -3.0]))
        tensor([ 0.0000,  0.6667, -1.0000, -3.3333])
        >>> smooth.predict(torch.tensor([3.0, -3.0, -3.0]))
        tensor(1)
    """

    def __init__(
        self,
        num_classes: int,
        *,
        weight: float = 0.1,
        temperature: float = 1.0,
        class_weight: PerClass | None = None,
    ) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.slopes = Slopes(num_classes, weight=weight, temperature=temperature)

    @property
    def num_outputs(self) -> int:
        """One a pair of adjacent classes."""
        return self.slopes.num_outputs

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """Those of the slopes."""
        return self.slopes.sample_losses(smoothed(outputs), labels)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """That of the slopes."""
        return self.slopes.posterior_of(smoothed(outputs))

    def class_scores(self, outputs: Outputs) -> Scores:
        """The accumulated slopes."""
        return self.slopes.class_scores(smoothed(outputs))


def smoothed(outputs: Outputs) -> Outputs:
    """The mean of the outputs and of their averages over 3, 5, 9, ... neighbours, fewer at both ends.

    Example:
        >>> smoothed(torch.tensor([0.0, 6.0, 0.0]))
        tensor([1.6667, 3.3333, 1.6667])
    """
    return _pooled(outputs) if outputs.shape[-1] <= MOST_POOLED else _doubled(outputs)


def _pooled(outputs: Outputs) -> Outputs:
    rows = outputs.reshape(-1, 1, outputs.shape[-1])
    scales, reach = [rows], 1
    while reach < rows.shape[-1]:
        scales.append(F.avg_pool1d(rows, 2 * reach + 1, stride=1, padding=reach, count_include_pad=False))
        reach *= 2
    return torch.stack(scales).mean(dim=0).reshape(outputs.shape)


def _doubled(outputs: Outputs) -> Outputs:
    """The same where windows are wide: on each side of a level, the sum of twice as many is that of two halves."""
    length = outputs.shape[-1]
    num_before = torch.arange(length, device=outputs.device)
    num_after = num_before.flip(0)
    before, after = _moved(outputs, 1), _moved(outputs, -1)  # the sums of the next `reach` outputs on either side
    total, scales, reach = outputs, 1, 1
    while reach < length:
        total = total + (before + outputs + after) / (1 + num_before.clamp(max=reach) + num_after.clamp(max=reach))
        before, after = before + _moved(before, reach), after + _moved(after, -reach)
        scales, reach = scales + 1, 2 * reach
    return total / scales


def _moved(values: Outputs, places: int) -> Outputs:
    """So many places on, zeros following."""
    return F.pad(values, (places, -places))
