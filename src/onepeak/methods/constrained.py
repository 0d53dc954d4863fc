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

    Posterior and prediction are the base method's. With cross-entropy as the base and a log-barrier this is the
    paper's ELB, with a quadratic penalty its PN.

    Args:
        base: The method to constrain; its class weights hold for the constraint too.
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
        base.class_scores(torch.zeros(1, base.num_outputs, device=device))  # an error here, not when training begins
        self.base = base
        self.constraint = constraint
        self.decision, self.own_rate = base.decision, base.own_rate
        self.batchwise = base.batchwise

    @property
    def num_outputs(self) -> int:
        """The base method's."""
        return self.base.num_outputs

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """The base method's loss plus the constraint's cost."""
        cost = self.constraint.cost(self.base.class_scores(outputs), labels)
        return self.base.checked_losses(outputs, labels) + cost

    def weighted_losses(self, outputs: Outputs, labels: Labels, weights: PerSample | None) -> PerSample:
        """The same, weighted."""
        cost = self.constraint.cost(self.base.class_scores(outputs), labels)
        return self.base.weighted_losses(outputs, labels, weights) + (cost if weights is None else cost * weights)

    def mean_loss(self, outputs: Outputs, labels: Labels) -> Tensor:
        """Cross-entropy and constraint in one pass where the base is cross-entropy."""
        if isinstance(self.base, CrossEntropy):
            return ordered_cross_entropy(outputs, labels, self.constraint)
        return super().mean_loss(outputs, labels)

    def fused_terms(self) -> RowTerms | None:
        """The base method's loss and one constraint, where the kernels of a GPU know both."""
        base, order = self.base.fused_terms(), self.constraint.fused_terms()
        if base is None or base.order is not None or order is None:
            return None
        return replace(base, order=order)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """The base method's."""
        return self.base.posterior_of(outputs)

    def class_scores(self, outputs: Outputs) -> Scores:
        """The base method's."""
        return self.base.class_scores(outputs)

    def predict(self, outputs: Outputs) -> Labels:
        """The base method's."""
        return self.base.predict(outputs)

    def tighten(self) -> None:
        """Moves the base method's and the constraint's schedules on."""
        self.base.tighten()
        self.constraint.tighten()
