"""Variants of the log-barrier: the base loss, the barrier's weight and schedule, smoothed scores.

Run: python benchmarks/barrier_variants.py compare benchmarks/barrier_variants.toml --root FGNET --weights W --out D
     python benchmarks/barrier_variants.py table D --out results/fgnet-barrier/runs.csv
`table` appends the runs of some folders to a file, one line per run, and prints the means.
"""

from typing import Literal, TypeAlias, get_args

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._core.check import check_choice
from onepeak.constraints import LogBarrier
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.constraints.gaps import signed_gaps
from onepeak.constraints.order import order_cost
from onepeak.methods.catalog import METHODS
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord
from onepeak.methods.rps import ranked_probability
from variants_table import main

Cost: TypeAlias = Literal["log", "logistic", "squared"]


class BarrierVariant(SoftmaxMethod):
    """Base losses under a log-barrier of any weight, on scores that may be averaged with their neighbours.

    Args:
        num_classes: Number of classes, at least 2.
        ce: The weight of cross-entropy.
        rps: The weight of the ranked probability score.
        barrier: The weight of the barrier's sum over the constraints; 1 / (c - 1) turns the sum into a mean.
        t: The barrier's initial t.
        cost: What a gap costs: "log" is the log-barrier, which asks for ever larger margins. "logistic" and "squared"
            ask the level question "do the scores rise here?" with t times the gap as its logit, by the log loss or by
            the squared error, which stop asking once it is answered.
        growth: Its factor after every epoch.
        reach: Scores are the mean of the outputs and of their averages over 1, 2, 4, ... neighbours on either side, up
            to this many; 0 leaves them unchanged, and the number of classes gives those of `Smoothed`.
        even: Weighs the average over n outputs by this power of n; 0 gives those of `Smoothed`. 0.5 gives every scale
            the same share in what a score learns from a sample, 1 makes averages sums.
        passes: How often this averaging is repeated.
        accumulated: Whether averaged outputs are differences of adjacent scores, as in `Slopes`.
        class_weight: One weight per class.
    """

    mixing: Tensor

    def __init__(
        self,
        num_classes: int,
        *,
        ce: float = 0.0,
        rps: float = 0.0,
        barrier: float = 1.0,
        t: float = 1.0,
        cost: Cost = "log",
        growth: float = 1.001,
        reach: int = 0,
        even: float = 0.0,
        passes: int = 1,
        accumulated: bool = False,
        class_weight: Tensor | None = None,
    ) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.ce, self.rps, self.barrier = ce, rps, barrier
        self.cost = check_choice("cost", cost, get_args(Cost))
        self.constraint = LogBarrier(num_classes, t, growth, t_max=max(t, 5.0))
        table = torch.linalg.matrix_power(mixing(num_classes, reach, even), passes)
        self.register_buffer("mixing", (table.cumsum(dim=0) if accumulated else table).float(), persistent=False)

    def class_scores(self, outputs: Tensor) -> Tensor:
        """Smoothed outputs; without a matrix product, which mixed precision would round."""
        return (outputs.unsqueeze(-2) * self.mixing.to(outputs.dtype)).sum(dim=-1)

    def sample_losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """The sum of all terms with a weight."""
        scores = self.class_scores(outputs)
        loss = self.barrier * self.order_cost(scores, labels)
        if self.ce:
            loss = loss + self.ce * cross_entropy(scores, labels)
        if self.rps:
            loss = loss + self.rps * ranked_probability(scores.softmax(dim=-1), labels)
        return loss

    def order_cost(self, scores: Tensor, labels: Tensor) -> Tensor:
        """The cost of all gaps of a sample, summed."""
        if self.cost == "log":
            return order_cost(self.constraint, scores, labels)
        logits = self.constraint.t.to(scores.dtype) * signed_gaps(scores, labels)
        costs = F.softplus(logits) if self.cost == "logistic" else logits.sigmoid().square()
        return costs.sum(dim=-1)

    def tighten(self) -> None:
        """Advances the barrier's schedule."""
        self.constraint.tighten()


def mixing(num_classes: int, reach: int, even: float) -> Tensor:
    """Row k: the weights of the outputs in score k."""
    place = torch.arange(num_classes, dtype=torch.float64)
    distance = (place.unsqueeze(-1) - place).abs()
    parts, near = [torch.eye(num_classes, dtype=torch.float64)], 1
    while near <= min(reach, num_classes - 1):
        within = (distance <= near).double()
        parts.append(within * within.sum(dim=-1, keepdim=True) ** (even - 1))
        near *= 2
    return torch.stack(parts).mean(dim=0)


METHODS.add(
    MethodRecord(
        name="barrier-variant",
        title="a log-barrier with other settings",
        family="constraint",
        reference="benchmarks/barrier_variants.py",
        year=None,
        num_outputs="c",
        build=BarrierVariant,
    )
)


if __name__ == "__main__":
    main()
