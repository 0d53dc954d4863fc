r"""The hinge on gaps, the most common order penalty, for comparison with the paper's."""

from typing import final

from onepeak._core.check import check_number
from onepeak._core.tensors import Gaps
from onepeak.constraints.order import OrderConstraint


@final
class Hinge(OrderConstraint):
    r"""The order constraints as a hinge on each gap.

    .. math:: w \sum_{k=0}^{c-2} \max(0, \Delta_k + \delta)

    The cost of a sample is the weighted **sum** over its c - 1 gaps. Its slope is constant however far a pair is out of
    order, and zero once the pair is in order by the margin; the slope of a log-barrier is never zero. The hinge is an
    exact penalty: with a weight above the largest multiplier, its minimum satisfies the constraints.

    Args:
        num_classes: Number of classes, at least 2.
        weight: w, at least 0.
        margin: :math:`\delta`, the wanted difference between adjacent scores, at least 0.

    Example:
        >>> import torch
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
