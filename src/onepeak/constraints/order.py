"""The base class of constraints on the order of adjacent scores."""

from abc import ABC, abstractmethod

from torch import nn

from onepeak._core.check import check_labels, check_num_classes, check_scores
from onepeak._core.tensors import Gaps, Labels, PerSample, Scores, full_precision
from onepeak.constraints.gaps import signed_gaps


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
