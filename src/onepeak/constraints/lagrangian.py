r"""The augmented Lagrangian with explicit dual variables, which the paper's barrier avoids (section 3)."""

from collections.abc import Callable
from typing import final

import torch
from torch import Tensor, distributed

from onepeak._core.check import check_number, in_plain_eager
from onepeak._core.tensors import Gaps, real_tensors
from onepeak.constraints.gaps import OrderConstraint


@final
class AugmentedLagrangian(OrderConstraint):
    r"""The order constraints as an augmented Lagrangian whose multipliers are updated every epoch.

    .. math:: \sum_{k=0}^{c-2} \frac{\max(0, \lambda_k + \mu \Delta_k)^2 - \lambda_k^2}{2 \mu}, \qquad
              \lambda_k \leftarrow \frac1N \sum_i \max(0, \lambda_k + \mu \Delta_{ik})

    The cost of a sample is the **sum** over its c - 1 gaps. Each pair of adjacent classes has one multiplier, shared by
    all samples. `tighten` sets it to the mean update over the training samples seen since the last call. The
    multipliers start at 0, where the cost is the quadratic penalty :math:`\frac\mu2 \max(0, \Delta)^2`.

    The `state_dict` holds the multipliers but not the samples seen since the last update: save after `tighten`. A
    compiled loss does not record samples, so its multipliers stay constant. The paper argues that such updates are
    unstable when interleaved with stochastic steps, and uses a barrier instead; this class lets you verify that.

    Args:
        num_classes: Number of classes, at least 2.
        weight: :math:`\mu`, above 0.

    Example:
        >>> lagrangian = AugmentedLagrangian(num_classes=3, weight=2.0)
        >>> scores, labels = torch.tensor([[0.0, 1.0, 2.0]]), torch.tensor([1])
        >>> lagrangian(scores, labels)
        tensor([1.])
        >>> lagrangian.tighten(); lagrangian.duals
        tensor([0., 2.])
        >>> lagrangian(scores, labels)
        tensor([3.])

    Reference: Bertsekas, "Constrained optimization and Lagrange multiplier methods", 1982; Belharbi et al. 2019,
    section 3.
    """

    counts_samples = True
    duals: Tensor

    def __init__(self, num_classes: int, weight: float = 0.1) -> None:
        super().__init__(num_classes)
        self.weight = check_number("weight", weight, above=0)
        with real_tensors():
            self.register_buffer("duals", torch.zeros(num_classes - 1))
            # The sum of the samples' updates, and their number. Not buffers: DistributedDataParallel overwrites the
            # buffers of every process with those of the first.
            self.asked, self.seen = torch.zeros(num_classes - 1), torch.zeros(())

    def gap_costs(self, gaps: Gaps) -> Gaps:
        """The augmented Lagrangian term of each gap; in training mode it also records the multiplier updates."""
        if self.training and in_plain_eager():
            with torch.no_grad():
                rows = gaps.reshape(-1, self.num_classes - 1)
                self.asked += (self.duals + self.weight * rows).relu().sum(dim=0)
                self.seen += len(rows)
        duals = self.duals.to(gaps.dtype)
        return ((duals + self.weight * gaps).relu().square() - duals.square()) / (2 * self.weight)

    def tighten(self) -> None:
        """Updates the multipliers in place. They stay as they are if no samples were seen since the last call.

        In distributed training every process must call it, because the update is averaged over all processes.
        """
        if distributed.is_available() and distributed.is_initialized():
            distributed.all_reduce(self.asked)
            distributed.all_reduce(self.seen)
        self.duals.copy_(torch.where(self.seen > 0, self.asked / self.seen.clamp(min=1), self.duals))
        self.asked.zero_()
        self.seen.zero_()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "AugmentedLagrangian":
        # `module.bfloat16()` must not round the sums and counts
        exact = (self.duals, self.asked, self.seen)
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.duals, self.asked, self.seen = (each.to(self.duals.device) for each in exact)
        return self

    def extra_repr(self) -> str:
        return f"num_classes={self.num_classes}, weight={self.weight:g}"
