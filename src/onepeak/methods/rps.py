"""RPS and MCE: squared errors of the cumulative and of the single probabilities (Hou et al. 2016; Brier 1950)."""

from typing import final

import torch

from onepeak._core.tensors import Labels, Outputs, PerSample
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.precision import ExactTable, offsets
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import choice, number


@final
class RankedProbability(SoftmaxMethod):
    r"""The squared distance between the cumulative posterior and the step at the label.

    .. math:: \ell = w \sum_{k=0}^{c-2} \big( P(Y \le k) - [y \le k] \big)^2 - v \log p_y

    where P is the cumulative softmax of the outputs. The sum is over the c - 1 levels and not normalised, as in the
    metric `rps`. It is a proper score that accounts for distance: probability costs more the farther it lies from the
    label. Prediction: the median, which minimises the related absolute error; or the mode, from which a one-peaked
    posterior falls on both sides.

    Args:
        weight: w, which matters only together with another term: `"rps+elb"` with `weight=0.3` is 0.3 RPS +
            log-barrier, and with `cross_entropy_weight=1` as well it is 0.3 RPS + the paper's ELB.
        cross_entropy_weight: v, the weight of an additional cross-entropy. The published loss has 0.
        decision: "median" or "mode".

    Example:
        >>> rps = RankedProbability(num_classes=3)
        >>> rps.loss(torch.zeros(1, 3), torch.tensor([0]))
        tensor(0.5556)

    Reference: Hou, Yu, Samaras, "Squared earth mover's distance-based loss for training deep neural networks", 2016;
    the score, Epstein, "A scoring system for probability forecasts of ranked categories", JAM 1969.
    """

    weight: float = number(1.0, above=0)
    cross_entropy_weight: float = number(0.0, minimum=0)
    decision: str = choice("median", "mode")

    def setup(self) -> None:
        self._steps = ExactTable((offsets(self.num_classes) >= 0).double())

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        below, reached = outputs.softmax(dim=-1).cumsum(dim=-1), self._steps.offsets(labels, outputs.dtype)
        score = self.weight * (below - reached).square().sum(dim=-1)  # at the last class it is 0, up to rounding
        if self.cross_entropy_weight == 0:
            return score
        return score + self.cross_entropy_weight * cross_entropy(outputs, labels)


RPS = MethodRecord("rps", "ranked probability score", "distance", build=RankedProbability)


@final
class Brier(SoftmaxMethod):
    r"""The mean over classes of the squared error of the probabilities.

    .. math:: \ell = \frac1c \sum_{k=0}^{c-1} (p_k - [k = y])^2, \qquad p = \mathrm{softmax}(o)

    Bounded and proper, but it knows no order: `rps` is the same on cumulative probabilities.

    Example:
        >>> Brier(num_classes=2).loss(torch.zeros(1, 2), torch.tensor([0]))
        tensor(0.2500)

    Reference: Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 1950; as a
    loss beside weighted kappa, Vargas et al., "Cumulative link models for deep ordinal classification", 2020.
    """

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        probs = outputs.softmax(dim=-1)
        is_label = torch.arange(self.num_classes, device=labels.device) == labels.unsqueeze(-1)
        return (probs - is_label.to(probs.dtype)).square().mean(dim=-1)


MCE = MethodRecord("mce", "squared error of the probabilities", "plain", build=Brier)
