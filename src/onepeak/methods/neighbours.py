"""CO2 and HO2: adjacent probabilities fall away from the label by a margin (Albuquerque et al. 2021)."""

from functools import partial
from typing import Literal, TypeAlias, final, get_args

from torch import Tensor

from onepeak._core.check import check_choice, check_number
from onepeak._core.tensors import Labels, Outputs, PerClass, PerSample
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.constraints.gaps import signed_gaps
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord

NeighboursBase: TypeAlias = Literal["cross_entropy", "entropy"]


@final
class Neighbours(SoftmaxMethod):
    r"""Cross-entropy (CO2) or the entropy of the posterior (HO2), plus a hinge on each pair of adjacent classes.

    .. math:: \ell = \ell_{base} + \lambda \sum_{k=0}^{c-2} \max(0, \delta + \Delta_k), \qquad
              \ell_{base} = -\log p_y \text{ or } -\sum_k p_k \log p_k

    where :math:`\Delta_k` is the signed difference of adjacent *probabilities*, negative where they fall away from the
    label. The sum is over the c - 1 pairs. With many classes probabilities are small, and a large margin cannot be met
    far from the label: keep it well below 1/c. With margin 0 the two are the CO and HO of the paper.

    Args:
        base: "cross_entropy" for CO2, "entropy" for HO2.
        weight: :math:`\lambda`. In HO2 the hinges alone determine where the peak is, and must outweigh the entropy, or
            any sharp posterior would be optimal: its default is 10.
        margin: :math:`\delta`, in probability.

    Example:
        >>> import torch
        >>> co2 = Neighbours(num_classes=2, weight=1.0, margin=0.05)
        >>> co2.loss(torch.zeros(1, 2), torch.tensor([0]))  # log 2 + 0.05
        tensor(0.7431)

    Reference: Albuquerque, Cruz, Cardoso, "Ordinal losses for classification of cervical cancer risk", PeerJ Computer
    Science 2021.
    """

    def __init__(
        self,
        num_classes: int,
        *,
        base: NeighboursBase = "cross_entropy",
        weight: float = 1.0,
        margin: float = 0.05,
        class_weight: PerClass | None = None,
    ) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.base = check_choice("base", base, get_args(NeighboursBase))
        self.weight = check_number("weight", weight, minimum=0)
        self.margin = check_number("margin", margin, minimum=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        hinges = (self.margin + signed_gaps(outputs.softmax(dim=-1), labels)).relu().sum(dim=-1)
        base = cross_entropy(outputs, labels) if self.base == "cross_entropy" else entropy(outputs)
        return base + self.weight * hinges


def entropy(scores: Tensor) -> PerSample:
    """The entropy of the softmax of the scores."""
    return -(scores.softmax(dim=-1) * scores.log_softmax(dim=-1)).sum(dim=-1)


CO2 = MethodRecord(
    name="co2",
    title="cross-entropy and ordered neighbours",
    family="distance",
    reference="Albuquerque, Cruz, Cardoso 2021, Ordinal losses for classification of cervical cancer risk",
    build=Neighbours,
    fixed={"base": "cross_entropy"},
)

HO2 = MethodRecord(
    name="ho2",
    title="entropy and ordered neighbours",
    family="distance",
    reference="Albuquerque, Cruz, Cardoso 2021, Ordinal losses for classification of cervical cancer risk",
    build=partial(Neighbours, weight=10.0),
    fixed={"base": "entropy"},
)
