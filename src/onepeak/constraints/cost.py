"""The cost of a constraint, computed in the fastest way there is for its type and device.

On a CPU the barrier and the penalty have an analytic gradient (`kernels.analytic`), on a GPU a kernel
(`kernels.fused`). Elsewhere, and for every other constraint, autograd differentiates the definition.
"""

from functools import partial

from onepeak._core.check import readable
from onepeak._core.tensors import Labels, PerSample, Scores
from onepeak.constraints.barrier import LogBarrier, log_barrier
from onepeak.constraints.gaps import signed_gaps
from onepeak.constraints.order import OrderConstraint
from onepeak.constraints.penalty import QuadraticPenalty
from onepeak.kernels.analytic import BarrierTerms, GapTerms, PenaltyTerms, PlainCost, order_cost
from onepeak.kernels.fused import FusedTerms


def cost_of_samples(constraint: OrderConstraint, scores: Scores, labels: Labels) -> PerSample:
    """The cost of each sample, without input checks."""
    if readable(scores) and (form := analytic_form(constraint)) is not None:
        return order_cost(scores, labels, *form)
    return defined_cost(constraint, scores, labels)


def defined_cost(constraint: OrderConstraint, scores: Scores, labels: Labels) -> PerSample:
    """The definition: the sum of the gaps' costs."""
    return constraint.gap_costs(signed_gaps(scores, labels)).sum(dim=-1)


def analytic_form(constraint: OrderConstraint) -> tuple[GapTerms, PlainCost] | None:
    """The cost of a gap with its slope, and the definition; None if there is no slope. Both keep the t of now."""
    if isinstance(constraint, LogBarrier):
        t = constraint.read_t()
        return BarrierTerms(t), lambda scores, labels: log_barrier(signed_gaps(scores, labels), t).sum(dim=-1)
    if isinstance(constraint, QuadraticPenalty):
        return PenaltyTerms(constraint.weight, constraint.slack), partial(defined_cost, constraint)
    return None


def fused_terms(constraint: OrderConstraint) -> FusedTerms | None:
    """The cost of a gap for the GPU kernels, with t on the device; None if they do not implement it."""
    if isinstance(constraint, LogBarrier):
        return FusedTerms(t=constraint.t)
    if isinstance(constraint, QuadraticPenalty):
        return FusedTerms(weight=constraint.weight, slack=constraint.slack)
    return None
