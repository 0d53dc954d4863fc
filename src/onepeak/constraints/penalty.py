r"""The quadratic penalty of the paper (Belharbi et al. 2019, eq. 3), and the hinge, the most common order penalty."""

from typing import final

import torch

from onepeak._core.check import check_number
from onepeak._core.tensors import Gaps
from onepeak.constraints.gaps import OrderConstraint


def quadratic_penalty(gaps: Gaps, slack: float) -> Gaps:
    r"""The quadratic cost of each gap: zero if it is in order, a square if it is not.

    .. math:: H(\delta) = \begin{cases} (\delta + \epsilon)^2 & \delta \ge 0 \\ 0 & \text{otherwise} \end{cases}

    As in the paper, the cost jumps by :math:`\epsilon^2` at a tie. Its gradient is zero wherever the order holds:
    unlike a barrier, it does not stop a pair from leaving the order.

    Args:
        gaps: Signed differences, negative if in order (see `order_gaps`).
        slack: :math:`\epsilon`, which gives a tie a positive cost; at least 0.

    Returns:
        One cost per gap, not summed.

    Example:
        >>> quadratic_penalty(torch.tensor([-1.0, 0.0, 1.0]), slack=0.5)
        tensor([0.0000, 0.2500, 2.2500])

    Reference: Belharbi et al. 2019, eq. 3.
    """
    check_number("slack", slack, minimum=0)
    return torch.where(gaps >= 0, gaps + slack, 0).square()


@final
class QuadraticPenalty(OrderConstraint):
    r"""The order constraints as a quadratic penalty.

    .. math:: \lambda \sum_{k=0}^{c-2} H(\Delta_k)

    where H is `quadratic_penalty` and :math:`\Delta_k` are the c - 1 gaps of `order_gaps`.

    Args:
        num_classes: Number of classes, at least 2.
        weight: The paper's :math:`\lambda`, at least 0.
        slack: The paper's :math:`\epsilon`, at least 0.

    Example:
        >>> penalty = QuadraticPenalty(num_classes=3, weight=0.5, slack=1.0)
        >>> penalty(torch.tensor([[0.0, 1.0, 2.0]]), torch.tensor([1]))
        tensor([2.])

    Reference: Belharbi et al. 2019, eq. 3.
    """

    def __init__(self, num_classes: int, weight: float = 1e-2, slack: float = 0.1) -> None:
        super().__init__(num_classes)
        self.weight = check_number("weight", weight, minimum=0)
        self.slack = check_number("slack", slack, minimum=0)

    def gap_costs(self, gaps: Gaps) -> Gaps:
        return self.weight * quadratic_penalty(gaps, self.slack)

    def extra_repr(self) -> str:
        return f"num_classes={self.num_classes}, weight={self.weight:g}, slack={self.slack:g}"


@final
class Hinge(OrderConstraint):
    r"""The order constraints as a hinge on each gap.

    .. math:: w \sum_{k=0}^{c-2} \max(0, \Delta_k + \delta)

    The sum is over the c - 1 gaps. Its slope is constant however far a pair is out of order, and zero once the pair is
    in order by the margin; the slope of a log-barrier is never zero. The hinge is an exact penalty: with a weight above
    the largest multiplier, its minimum satisfies the constraints.

    Args:
        num_classes: Number of classes, at least 2.
        weight: w, at least 0.
        margin: :math:`\delta`, the wanted difference between adjacent scores, at least 0.

    Example:
        >>> hinge = Hinge(num_classes=3, weight=2.0, margin=0.5)
        >>> hinge(torch.tensor([[0.0, 1.0, 2.0]]), torch.tensor([1]))
        tensor([3.])
    """

    def __init__(self, num_classes: int, weight: float = 1.0, margin: float = 0.1) -> None:
        super().__init__(num_classes)
        self.weight = check_number("weight", weight, minimum=0)
        self.margin = check_number("margin", margin, minimum=0)

    def gap_costs(self, gaps: Gaps) -> Gaps:
        return self.weight * (gaps + self.margin).relu()

    def extra_repr(self) -> str:
        return f"num_classes={self.num_classes}, weight={self.weight:g}, margin={self.margin:g}"
