"""Variants between `slopes` and `smooth-slopes`: one method with many settings, and a table of its runs.

Run: python benchmarks/slopes_variants.py compare benchmarks/slopes_variants.toml --root FGNET --weights W --out D
     python benchmarks/slopes_variants.py compare experiments/catalog-esl.toml --methods variant,variant:levels=logistic
     python benchmarks/slopes_variants.py table D... --out results/fgnet-slopes/runs.csv
`table` appends the runs of some folders to a file, one line per run, and prints the means.
"""

import math
from typing import Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak.constraints import log_barrier
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.methods.catalog import METHODS
from onepeak.methods.levels import accumulate, answers
from onepeak.methods.method import Method
from onepeak.methods.record import MethodRecord
from onepeak.methods.rps import ranked_probability
from variants_table import main

Levels: TypeAlias = Literal["squared", "logistic", "arcsine"]
Smoothing: TypeAlias = Literal["none", "gaussian", "pyramid", "harmonic"]


class SlopesVariant(Method):
    """`Slopes` with other level losses, other terms on the accumulated scores, and smoothed outputs.

    Args:
        num_classes: Number of classes, at least 2.
        levels: The loss of a level: "squared", "logistic", or "arcsine", the proper loss halfway between them.
        factor: The weight of the levels' sum.
        weight: The weight of cross-entropy on the accumulated scores.
        rps: The weight of the ranked probability score of their posterior.
        barrier: The weight of the log-barrier (t = 1) on the slopes.
        smoothing: What a slope is the mean of: only its output ("none"); outputs weighted by a "gaussian" of `width`;
            the same at five widths and none ("pyramid"); or weighted by (1 + distance) ^ -`width` ("harmonic").
        width: As a share of the number of levels; for "harmonic" the power.
        class_weight: One weight per class.
    """

    mixing: Tensor

    def __init__(
        self,
        num_classes: int,
        *,
        levels: Levels = "squared",
        factor: float = 1.0,
        weight: float = 0.1,
        rps: float = 0.0,
        barrier: float = 0.0,
        smoothing: Smoothing = "none",
        width: float = 1.0,
        class_weight: Tensor | None = None,
    ) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.levels, self.factor, self.weight, self.rps, self.barrier = levels, factor, weight, rps, barrier
        self.register_buffer("mixing", mixing(num_classes - 1, smoothing, width).float(), persistent=False)

    @property
    def num_outputs(self) -> int:
        """One slope per pair of adjacent classes."""
        return self.num_classes - 1

    def slopes(self, outputs: Tensor) -> Tensor:
        """Smoothed outputs; without a matrix product, which mixed precision would round."""
        return (outputs.unsqueeze(-2) * self.mixing.to(outputs.dtype)).sum(dim=-1)

    def sample_losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """The sum of all terms with a weight."""
        slopes = self.slopes(outputs)
        wrong = slopes * (1 - 2 * answers(labels, self.num_outputs).to(slopes.dtype))
        loss = self.factor * level_loss(wrong, self.levels).sum(dim=-1)
        scores = accumulate(slopes)
        if self.weight:
            loss = loss + self.weight * cross_entropy(scores, labels)
        if self.rps:
            loss = loss + self.rps * ranked_probability(scores.softmax(dim=-1), labels)
        if self.barrier:
            loss = loss + self.barrier * log_barrier(wrong, 1.0).sum(dim=-1)
        return loss

    def posterior_of(self, outputs: Tensor) -> Tensor:
        """Softmax of the accumulated slopes."""
        return accumulate(self.slopes(outputs)).log_softmax(dim=-1)

    def class_scores(self, outputs: Tensor) -> Tensor:
        """The accumulated slopes."""
        return accumulate(self.slopes(outputs))


def level_loss(wrong: Tensor, levels: Levels) -> Tensor:
    """The loss of one level, whose logit is positive if it is wrong; p is the probability of being wrong.

    Its slope is 2 p^2 (1 - p) for "squared", p for "logistic", and p sqrt(p (1 - p)) for "arcsine".
    """
    match levels:
        case "squared":
            return wrong.sigmoid().square()
        case "logistic":
            return F.softplus(wrong)
        case "arcsine":
            size = wrong.abs()
            return math.pi / 4 + (wrong / 4).tanh().atan() - (-size / 2).exp() * size.sigmoid()


def mixing(num_levels: int, smoothing: Smoothing, width: float) -> Tensor:
    """Row k: the weights of the outputs in slope k."""
    level = torch.arange(num_levels, dtype=torch.float64)
    distance = (level.unsqueeze(-1) - level).abs()

    def gaussian(share: float) -> Tensor:
        weights = torch.exp(-0.5 * (distance / (share * num_levels)) ** 2)
        return weights / weights.sum(dim=-1, keepdim=True)

    match smoothing:
        case "none":
            return torch.eye(num_levels, dtype=torch.float64)
        case "gaussian":
            return gaussian(width)
        case "pyramid":
            parts = [torch.eye(num_levels, dtype=torch.float64), *map(gaussian, (0.02, 0.05, 0.1, 0.2, 0.5))]
            return torch.stack(parts).mean(dim=0)
        case "harmonic":
            weights = (1 + distance) ** -width
            return weights / weights.sum(dim=-1, keepdim=True)


METHODS.add(
    MethodRecord(
        name="variant",
        title="slopes with other settings",
        family="levels",
        reference="benchmarks/slopes_variants.py",
        year=None,
        num_outputs="c-1",
        build=SlopesVariant,
    )
)


if __name__ == "__main__":
    main()
