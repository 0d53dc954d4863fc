"""The paper's contribution: an order constraint put on any method that has class scores."""

from dataclasses import replace
from typing import final

import torch
from torch import Tensor

from onepeak._core.tensors import Labels, LogProbs, Outputs, PerClass, PerSample, Scores
from onepeak.constraints.barrier import LogBarrier
from onepeak.constraints.cost import cost_of_samples, fused_terms
from onepeak.constraints.cross_entropy import ordered_cross_entropy
from onepeak.constraints.hinge import Hinge
from onepeak.constraints.lagrangian import AugmentedLagrangian
from onepeak.constraints.order import OrderConstraint
from onepeak.constraints.penalty import QuadraticPenalty
from onepeak.errors import InputError
from onepeak.kernels.fused import RowTerms
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.methods.method import Method
from onepeak.methods.record import MethodRecord


@final
class Constrained(Method):
    r"""A base method whose class scores must rise up to the label and fall after it.

    .. math:: \ell = \ell_{base} + \sum_{k=0}^{c-2} \hat I(\Delta_k)

    The sum is over the c - 1 pairs of adjacent classes. Posterior and prediction are those of the base method.
    Cross-entropy with a log-barrier is the paper's ELB, with a quadratic penalty its PN.

    Args:
        base: The method to constrain. Its class weights also apply to the constraint.
        constraint: An `OrderConstraint`, such as `LogBarrier`.

    Example:
        >>> from onepeak.constraints import LogBarrier
        >>> elb = Constrained(CrossEntropy(num_classes=3), LogBarrier(num_classes=3))
        >>> elb.loss(torch.tensor([[0.0, 1.0, 0.0]]), torch.tensor([1]))
        tensor(0.5514)

    Reference: Belharbi et al. 2019, eq. 3 and 6.
    """

    def __init__(self, base: Method, constraint: OrderConstraint) -> None:
        if not isinstance(base, Method):
            raise InputError(f"`base` must be a method, got {type(base).__name__}: see onepeak.method(name, ...).")
        if not isinstance(constraint, OrderConstraint):
            raise InputError(f"`constraint` must be a LogBarrier or the like, got {type(constraint).__name__}.")
        super().__init__(base.num_classes, class_weight=base.class_weight)
        if constraint.num_classes != base.num_classes:
            raise InputError(
                f"`constraint` must have the {base.num_classes} classes of its base, got {constraint.num_classes}."
            )
        parameter = next(base.parameters(), None)
        device = None if parameter is None else parameter.device
        base.class_scores(torch.zeros(1, base.num_outputs, device=device))  # fail now, not when training starts
        self.base = base
        self.constraint = constraint
        self.decision, self.own_rate = base.decision, base.own_rate
        self.batchwise = base.batchwise

    @property
    def num_outputs(self) -> int:
        """As the base method."""
        return self.base.num_outputs

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """The loss of the base method plus the cost of the constraint."""
        cost = cost_of_samples(self.constraint, self.base.class_scores(outputs), labels)
        return self.base.checked_losses(outputs, labels) + cost

    def weighted_losses(self, outputs: Outputs, labels: Labels, weights: PerSample | None) -> PerSample:
        """The same, weighted."""
        cost = cost_of_samples(self.constraint, self.base.class_scores(outputs), labels)
        return self.base.weighted_losses(outputs, labels, weights) + (cost if weights is None else cost * weights)

    def mean_loss(self, outputs: Outputs, labels: Labels) -> Tensor:
        """The mean over samples; in one pass if the base is cross-entropy."""
        if isinstance(self.base, CrossEntropy):
            return ordered_cross_entropy(outputs, labels, self.constraint)
        return super().mean_loss(outputs, labels)

    def fused_terms(self) -> RowTerms | None:
        """The base loss and the constraint for the GPU kernels; None if they do not implement both."""
        base, order = self.base.fused_terms(), fused_terms(self.constraint)
        if base is None or base.order is not None or order is None:
            return None
        return replace(base, order=order)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """The posterior of the base method."""
        return self.base.posterior_of(outputs)

    def class_scores(self, outputs: Outputs) -> Scores:
        """The class scores of the base method."""
        return self.base.class_scores(outputs)

    def predict(self, outputs: Outputs) -> Labels:
        """The prediction of the base method."""
        return self.base.predict(outputs)

    @property
    def scheduled(self) -> bool:
        """Whether the base method or the constraint has a schedule."""
        return self.base.scheduled or self.constraint.scheduled

    def tighten(self) -> None:
        """Advances the schedules of the base method and of the constraint."""
        self.base.tighten()
        self.constraint.tighten()


def _elb(
    num_classes: int,
    *,
    t: float = 1.0,
    growth: float = 1.001,
    t_max: float = 5.0,
    class_weight: PerClass | None = None,
) -> Constrained:
    base = CrossEntropy(num_classes, class_weight=class_weight)
    return Constrained(base, LogBarrier(num_classes, t, growth, t_max))


def _pn(
    num_classes: int, *, weight: float = 1e-2, slack: float = 0.1, class_weight: PerClass | None = None
) -> Constrained:
    base = CrossEntropy(num_classes, class_weight=class_weight)
    return Constrained(base, QuadraticPenalty(num_classes, weight, slack))


def _hinge(
    num_classes: int, *, weight: float = 1.0, margin: float = 0.1, class_weight: PerClass | None = None
) -> Constrained:
    return Constrained(CrossEntropy(num_classes, class_weight=class_weight), Hinge(num_classes, weight, margin))


def _lagrangian(num_classes: int, *, weight: float = 0.1, class_weight: PerClass | None = None) -> Constrained:
    return Constrained(CrossEntropy(num_classes, class_weight=class_weight), AugmentedLagrangian(num_classes, weight))


_BELHARBI = "Belharbi et al. 2019, Non-parametric uni-modality constraints for deep ordinal classification"

PN = MethodRecord(
    name="pn",
    title="cross-entropy under a penalty",
    family="constraint",
    reference=_BELHARBI,
    year=2019,
    num_outputs="c",
    as_published="same",
    build=_pn,
)

ELB = MethodRecord(
    name="elb",
    title="cross-entropy under a log-barrier",
    family="constraint",
    reference=_BELHARBI,
    year=2019,
    num_outputs="c",
    as_published="same",
    build=_elb,
)

HINGE = MethodRecord(
    name="hinge",
    title="cross-entropy under a hinge",
    family="constraint",
    reference="the most common penalty for order",
    year=None,
    num_outputs="c",
    build=_hinge,
)

LAGRANGIAN = MethodRecord(
    name="lagrangian",
    title="cross-entropy under an augmented Lagrangian",
    family="constraint",
    reference="Bertsekas 1982, Constrained optimization and Lagrange multiplier methods",
    year=1982,
    num_outputs="c",
    build=_lagrangian,
)
