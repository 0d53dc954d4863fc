"""Cross-entropy under order constraints on a GPU: value and gradient in one pass over the scores (Triton).

Up to `launch.LONGEST_ROW` classes, the scores are read once and the gradient is written once. Longer rows are read
twice, by one program per row or, if there are few rows, by several.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak.kernels import launch
from onepeak.kernels.one_pass import PassTerms, empty_gradient, empty_losses, mean_loss, total
from onepeak.kernels.terms import PlainCost

COLUMNS, WARPS = 1024, 8
"""Scores of a long row that one program processes at a time, and its number of warps."""

SHORTEST_PART = 8192
"""The minimum number of scores in a part of a row."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FusedTerms(PassTerms):
    """A gap cost that the kernels implement: the extended log-barrier (eq. 7) or the quadratic penalty (eq. 3)."""

    t: Tensor | None = None
    """The t of a barrier, read on the device at every call so that a captured graph sees changes; None: penalty."""
    weight: float = 0.0
    slack: float = 0.0

    def frozen(self) -> "FusedTerms":
        """A copy that later changes of t do not affect."""
        return self if self.t is None else replace(self, t=self.t.clone())

    def loss_and_gradient(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The mean of cross-entropy plus order cost, and its gradient."""
        from onepeak.kernels import device_code

        batch, classes = scores.shape
        share = 1 / max(1, batch)
        gradient = empty_gradient(scores)
        kind = (device_code.PENALTY if self.t is None else device_code.BARRIER).value
        # The penalty does not use t, but the kernel needs some pointer. The t of a loss left on the CPU is moved.
        t = labels if self.t is None else self.t.to(scores.device)
        with launch.LAUNCHING, torch.cuda.device_of(scores):
            if classes <= launch.LONGEST_ROW:
                rows, columns = launch.tile(batch, classes)
                programs = launch.ceil(batch, rows)
                losses = empty_losses(programs, scores.device)
                device_code.whole_rows[(programs,)](
                    scores, labels, t, losses, gradient, batch, classes, share, self.weight, self.slack,
                    KIND=kind, ROWS=rows, COLUMNS=columns, num_warps=launch.warps(rows * columns),
                )  # fmt: skip
            elif 2 * batch > launch.PROGRAMS:
                losses = empty_losses(batch, scores.device)
                device_code.long_rows[(batch,)](
                    scores, labels, t, losses, gradient, classes, share, self.weight, self.slack,
                    KIND=kind, COLUMNS=COLUMNS, num_warps=WARPS,
                )  # fmt: skip
            else:
                part, count = launch.parts(batch, classes, COLUMNS, shortest=SHORTEST_PART)
                parts = torch.empty(batch, count, 3, dtype=torch.float32, device=scores.device)
                losses = empty_losses(batch, scores.device)
                device_code.parts_of_rows[(batch, count)](
                    scores, labels, t, parts, classes, part, self.weight, self.slack,
                    KIND=kind, COLUMNS=COLUMNS, num_warps=WARPS,
                )  # fmt: skip
                device_code.gradient_of_rows[(batch, count)](
                    scores, labels, t, parts, losses, gradient, classes, part, count, share, self.weight, self.slack,
                    KIND=kind, COLUMNS=COLUMNS, COUNT=launch.power_of_two(count), num_warps=WARPS,
                )  # fmt: skip
        return total(losses), gradient


def ordered_cross_entropy(scores: Tensor, labels: Tensor, terms: FusedTerms, plain: PlainCost) -> Tensor:
    """The mean over samples of cross-entropy plus order cost, in float32, for scores in float32 or half precision."""
    return mean_loss(
        scores,
        labels,
        terms,
        lambda full, labels: F.cross_entropy(full, labels, reduction="none") + plain(full, labels),
    )
