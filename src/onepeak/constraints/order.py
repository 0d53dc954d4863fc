"""The base class of constraints on the order of adjacent scores."""

from abc import ABC, abstractmethod

from torch import nn

from onepeak._check import check_labels, check_num_classes, check_scores, readable
from onepeak._precision import full_precision
from onepeak._shapes import Gaps, Labels, PerSample, Scores
from onepeak.constraints.gaps import signed_gaps
from onepeak.kernels.analytic import order_cost
from onepeak.kernels.fused import FusedTerms
from onepeak.kernels.terms import GapTerms, PlainCost


class OrderConstraint(nn.Module, ABC):
    """Scores must rise up to the label and fall after it; a subclass defines the cost of each gap.

    Called with scores and labels, it returns one cost per sample: the sum over the c - 1 pairs of adjacent classes.

    Args:
        num_classes: Number of classes, at least 2.
    """

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.num_classes = check_num_classes(num_classes)

    @abstractmethod
    def gap_costs(self, gaps: Gaps) -> Gaps:
        """The cost of each gap, in operations that autograd, `torch.func` and `torch.compile` support."""

    def gap_terms(self) -> GapTerms | None:
        """The same cost as a value and a slope, for the one-pass form; None if not available."""
        return None

    def fused_terms(self) -> FusedTerms | None:
        """The same cost for the GPU kernels; None if they do not implement it."""
        return None

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
        return self.cost(full_precision(scores), labels)

    def cost(self, scores: Scores, labels: Labels) -> PerSample:
        """`forward` without input checks. Uses an analytic gradient on a CPU, autograd elsewhere."""
        if readable(scores) and (terms := self.gap_terms()) is not None:
            return order_cost(scores, labels, terms, self.cost_as_it_is())
        return self.plain_cost(scores, labels)

    def plain_cost(self, scores: Scores, labels: Labels) -> PerSample:
        """The definition: the sum of the gaps' costs."""
        return self.gap_costs(signed_gaps(scores, labels)).sum(dim=-1)

    def cost_as_it_is(self) -> PlainCost:
        """`plain_cost`, unaffected by later calls of `tighten`; for higher derivatives on a CPU."""
        return self.plain_cost
