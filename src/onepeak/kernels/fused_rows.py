"""Losses of the softmax of scores on a GPU, with or without an order cost: value and gradient in one pass (Triton).

For rows that fit in the registers of a program. The environment variable ONEPEAK_FUSED=0 disables these kernels too.
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from onepeak.kernels import launch
from onepeak.kernels.fused import FusedTerms
from onepeak.kernels.one_pass import PassTerms, empty_gradient, empty_losses, total

RowLoss: TypeAlias = Literal[
    "mean_variance", "label_distribution", "published_label_distribution", "ranked_probability"
]

MOST_WARPS = 16
"""For the largest tiles: with 8 warps, RPS under a barrier needs more registers than there are."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RowTerms(PassTerms):
    """A loss of the softmax of a row that the kernels implement, with an optional order cost."""

    loss: RowLoss
    settings: tuple[float, float]
    """Mean-variance: its two weights. Label distribution: 1 / (2 variance) and, as published, the height of the
    density. Ranked probability score: its weight and that of cross-entropy."""
    order: FusedTerms | None = None

    def frozen(self) -> "RowTerms":
        """A copy that later changes of the constraint do not affect."""
        return self if self.order is None else replace(self, order=self.order.frozen())

    def loss_and_gradient(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The mean loss and its gradient."""
        from onepeak.kernels import device_code, device_rows

        batch, classes = scores.shape
        gradient = empty_gradient(scores)
        order = self.order or FusedTerms()
        kind = device_code.PENALTY if order.t is None else device_code.BARRIER
        if self.order is None:
            kind = device_rows.UNORDERED
        # Only the barrier uses t, but the kernel needs some pointer. The t of a method left on the CPU is moved.
        t = labels if order.t is None else order.t.to(scores.device)
        rows, columns = launch.tile(batch, classes)
        programs = launch.ceil(batch, rows)
        losses = empty_losses(programs, scores.device)
        with launch.LAUNCHING, torch.cuda.device_of(scores):
            device_rows.losses_of_rows[(programs,)](
                scores, labels, t, losses, gradient, batch, classes, 1 / max(1, batch),
                *self.settings, order.weight, order.slack,
                LOSS=getattr(device_rows, self.loss.upper()).value, ORDER=kind.value, ROWS=rows, COLUMNS=columns,
                num_warps=MOST_WARPS if rows * columns > launch.LONGEST_ROW // 2 else launch.warps(rows * columns),
            )  # fmt: skip
        return total(losses), gradient


def takes(scores: Tensor) -> bool:
    """Whether these kernels handle the scores."""
    return scores.shape[-1] <= launch.LONGEST_ROW and launch.takes(scores)
