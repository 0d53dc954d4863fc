"""The paper's mathematics: the order constraints on adjacent scores and the losses made of them."""

from onepeak.constraints.barrier import LogBarrier, log_barrier
from onepeak.constraints.gaps import OrderConstraint, order_gaps
from onepeak.constraints.lagrangian import AugmentedLagrangian
from onepeak.constraints.losses import ELBLoss, PenaltyLoss, UnimodalLoss
from onepeak.constraints.penalty import Hinge, QuadraticPenalty, quadratic_penalty

__all__ = [
    "AugmentedLagrangian",
    "ELBLoss",
    "Hinge",
    "LogBarrier",
    "OrderConstraint",
    "PenaltyLoss",
    "QuadraticPenalty",
    "UnimodalLoss",
    "log_barrier",
    "order_gaps",
    "quadratic_penalty",
]
