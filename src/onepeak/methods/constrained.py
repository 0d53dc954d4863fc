"""The paper's contribution: an order constraint put on any method that has class scores."""

from collections.abc import Callable
from dataclasses import replace
from typing import final

import torch
from torch import Tensor

from onepeak._core.tensors import Labels, Outputs, PerClass, PerSample
from onepeak.constraints.barrier import LogBarrier
from onepeak.constraints.cross_entropy import ordered_cross_entropy
from onepeak.constraints.gaps import OrderConstraint, order_cost
from onepeak.constraints.lagrangian import AugmentedLagrangian
from onepeak.constraints.penalty import Hinge, QuadraticPenalty
from onepeak.errors import InputError
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.methods.method import Method, Wrapped
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import with_settings_of
from onepeak.methods.soft_labels import sord


@final
class Constrained(Wrapped):
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
        super().__init__(base)
        if not isinstance(constraint, OrderConstraint):
            raise InputError(f"`constraint` must be a LogBarrier or the like, got {type(constraint).__name__}.")
        if constraint.num_classes != base.num_classes:
            raise InputError(
                f"`constraint` must have the {base.num_classes} classes of its base, got {constraint.num_classes}."
            )
        parameter = next(base.parameters(), None)
        device = None if parameter is None else parameter.device
        base.class_scores(torch.zeros(1, base.num_outputs, device=device))  # fail now, not when training starts
        self.constraint = constraint
        self.counts_samples = base.counts_samples or constraint.counts_samples

    def weighted_losses(self, outputs: Outputs, labels: Labels, weights: PerSample | None) -> PerSample:
        cost = order_cost(self.constraint, self.base.class_scores(outputs), labels)
        return self.base.weighted_losses(outputs, labels, weights) + (cost if weights is None else cost * weights)

    def mean_loss(self, outputs: Outputs, labels: Labels) -> Tensor:
        """The mean over samples; in one pass if the base is cross-entropy."""
        if isinstance(self.base, CrossEntropy):
            return ordered_cross_entropy(outputs, labels, self.constraint)
        return self.weighted_losses(outputs, labels, None).mean()

    @property
    def scheduled(self) -> bool:
        return self.base.scheduled or self.constraint.scheduled

    def tighten(self) -> None:
        self.base.tighten()
        self.constraint.tighten()


def under(constraint: Callable[..., OrderConstraint]) -> Callable[..., Constrained]:
    """Returns a function that builds cross-entropy under a constraint, whose settings it takes by name."""

    @with_settings_of(constraint)
    def build(num_classes: int, *, class_weight: PerClass | None = None, **settings: float) -> Constrained:
        return Constrained(CrossEntropy(num_classes, class_weight=class_weight), constraint(num_classes, **settings))

    return build


PN = MethodRecord(
    "pn",
    "cross-entropy under a penalty",
    "constraint",
    reference="Belharbi et al. 2019, Non-parametric uni-modality constraints for deep ordinal classification",
    as_published="same",
    build=under(QuadraticPenalty),
)

ELB = replace(PN, name="elb", title="cross-entropy under a log-barrier", build=under(LogBarrier))

HINGE = MethodRecord(
    "hinge",
    "cross-entropy under a hinge",
    "constraint",
    reference="the most common penalty for order",
    build=under(Hinge),
)

LAGRANGIAN = MethodRecord(
    "lagrangian",
    "cross-entropy under an augmented Lagrangian",
    "constraint",
    reference="Bertsekas 1982, Constrained optimization and Lagrange multiplier methods",
    build=under(AugmentedLagrangian),
)


def orcu(
    num_classes: int, *, t: float = 10.0, sharpness: float = 1.0, class_weight: PerClass | None = None
) -> Constrained:
    r"""The soft labels of SORD under the paper's log-barrier, which does not tighten.

    .. math:: \ell = \mathrm{KL}(q_y \,\|\, p) + \sum_{k=0}^{c-2} \hat I_t(\Delta_k), \qquad
              q_{yk} \propto e^{-s (k - y)^2}

    ELB's closest rival: it has ELB's barrier, from the start as steep as it will be, and a target that has one peak
    itself, which calibrates the posterior. The cross-entropy of the paper is larger by the entropy of the target and
    has the same gradient.

    Soft label, barrier and their plain sum are those of the preprint (arXiv 2410.15658v3) as others quote it: squared
    distance, s = 1. The linear branch of its barrier is quoted with + t where eq. 7 of Belharbi et al. has + 1/t, which
    would make the value jump at :math:`-1/t^2` and leaves the gradient as it is; here it is eq. 7. We could not read
    which t its experiments use; two implementations by others take 3.

    Args:
        t: Steepness of the barrier, constant during training.
        sharpness: s of the soft label.

    Example:
        >>> import torch
        >>> orcu(3).loss(torch.tensor([[-1.0, 0.0, -1.0]]), torch.tensor([1])).abs() < 1e-6  # both terms are 0
        tensor(True)

    Reference: Kim, Chung, Jang, "Calibration of ordinal regression networks", 2024.
    """
    base = sord(num_classes, sharpness=sharpness, class_weight=class_weight)
    return Constrained(base, LogBarrier(num_classes, t, growth=1.0, t_max=t))


ORCU = MethodRecord("orcu", "soft labels under a steep barrier", "constraint", build=orcu)
