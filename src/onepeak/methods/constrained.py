"""The paper's contribution: an order constraint put on any method that has class scores."""

from dataclasses import replace
from typing import final

import torch
from torch import Tensor

from onepeak._shapes import Labels, LogProbs, Outputs, PerSample, Scores
from onepeak.constraints.cross_entropy import ordered_cross_entropy
from onepeak.constraints.order import OrderConstraint
from onepeak.errors import InputError
from onepeak.kernels.fused_rows import RowTerms
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.methods.method import Method


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
        cost = self.constraint.cost(self.base.class_scores(outputs), labels)
        return self.base.checked_losses(outputs, labels) + cost

    def weighted_losses(self, outputs: Outputs, labels: Labels, weights: PerSample | None) -> PerSample:
        """The same, weighted."""
        cost = self.constraint.cost(self.base.class_scores(outputs), labels)
        return self.base.weighted_losses(outputs, labels, weights) + (cost if weights is None else cost * weights)

    def mean_loss(self, outputs: Outputs, labels: Labels) -> Tensor:
        """The mean over samples; in one pass if the base is cross-entropy."""
        if isinstance(self.base, CrossEntropy):
            return ordered_cross_entropy(outputs, labels, self.constraint)
        return super().mean_loss(outputs, labels)

    def fused_terms(self) -> RowTerms | None:
        """The base loss and the constraint for the GPU kernels; None if they do not implement both."""
        base, order = self.base.fused_terms(), self.constraint.fused_terms()
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
