r"""The signed differences of adjacent scores (Belharbi et al. 2019, eq. 2 and 5), and what a constraint on them is."""

from abc import ABC, abstractmethod

import torch
from torch import nn

from onepeak._core.check import check_labels, check_num_classes, check_scores
from onepeak._core.tensors import Gaps, Labels, PerSample, Scores, full_precision


def order_gaps(scores: Scores, labels: Labels) -> Gaps:
    r"""The differences of adjacent scores, signed so that a negative gap is in order.

    .. math::
        \Delta_k = \begin{cases} s_k - s_{k+1} & k < y \\ s_{k+1} - s_k & k \ge y \end{cases}
        \qquad k = 0, \dots, c - 2

    The scores rise up to the label and fall after it exactly when every gap is negative. A tie is not in order.

    Args:
        scores: One score per class. Logits and log-probabilities give the same gaps.
        labels: The label that should be the peak.

    Returns:
        The c - 1 gaps of each sample.

    Example:
        >>> order_gaps(torch.tensor([1.0, 3.0, 2.0, 2.0]), torch.tensor(1))
        tensor([-2., -1.,  0.])

    Reference: Belharbi et al. 2019, eq. 2 and 5.
    """
    check_scores(scores, None)
    check_labels(labels, scores.shape[-1], scores.shape[:-1])
    return signed_gaps(scores, labels)


def signed_gaps(scores: Scores, labels: Labels) -> Gaps:
    """`order_gaps` without input checks, for callers that have already checked."""
    differences = scores.diff(dim=-1)
    below = torch.arange(differences.shape[-1], device=labels.device) < labels.unsqueeze(-1)
    return torch.where(below, -differences, differences)


def pairs_in_order(scores: Scores, labels: Labels) -> Labels:
    """Counts how many of the c - 1 pairs strictly fall away from a label, without input checks."""
    return (signed_gaps(scores, labels) < 0).sum(dim=-1)  # -inf minus -inf is NaN: a tie, not in order


class OrderConstraint(nn.Module, ABC):
    """Scores must rise up to the label and fall after it; a subclass defines the cost of each gap.

    Called with scores and labels, it returns one cost per sample: the sum over the c - 1 pairs of adjacent classes.

    Args:
        num_classes: Number of classes, at least 2.
    """

    counts_samples: bool = False
    """Whether the schedule follows the samples seen; a loss then refuses a distribution over labels."""

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.num_classes = check_num_classes(num_classes)

    @abstractmethod
    def gap_costs(self, gaps: Gaps) -> Gaps:
        """The cost of each gap, in operations that autograd, `torch.func` and `torch.compile` support."""

    @property
    def scheduled(self) -> bool:
        """Whether `tighten` changes the cost."""
        return type(self).tighten is not OrderConstraint.tighten

    def tighten(self) -> None:
        """Advances the constraint's schedule by one epoch."""

    def forward(self, scores: Scores, labels: Labels) -> PerSample:
        """The cost of each sample (float32 for half-precision scores)."""
        check_scores(scores, self.num_classes)
        check_labels(labels, self.num_classes, scores.shape[:-1])
        return order_cost(self, full_precision(scores), labels)


def order_cost(constraint: OrderConstraint, scores: Scores, labels: Labels) -> PerSample:
    """The cost of each sample, the sum of its gaps' costs, without input checks."""
    return constraint.gap_costs(signed_gaps(scores, labels)).sum(dim=-1)
