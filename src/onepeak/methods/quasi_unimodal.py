"""QUL: only the label's neighbourhood must be in order (Albuquerque et al. 2022)."""

from typing import final

import torch

from onepeak._core.check import check_number
from onepeak._core.tensors import Labels, Outputs, PerClass, PerSample
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord


@final
class QuasiUnimodal(SoftmaxMethod):
    r"""Cross-entropy plus hinges: the label above both neighbours, each neighbour above all classes beyond it.

    .. math:: \ell = -\log p_y + \lambda \sum_{k \ne y} \max(0, \delta + p_k - p_{r(k)}), \qquad
              r(k) = \begin{cases} y & |k - y| = 1 \\ y + \mathrm{sign}(k - y) & |k - y| > 1 \end{cases}

    Far classes may be in any order as long as none rises above the neighbour on its side. The sum is over the c - 1
    other classes. Prediction: the mode. Not one-peaked by construction, and not meant to be.

    This follows the paper's description; its published code compares far classes on the upper side with the label
    itself instead of the neighbour.

    Args:
        weight: :math:`\lambda`.
        margin: :math:`\delta`, in probability.

    Example:
        >>> qul = QuasiUnimodal(num_classes=3, weight=1.0, margin=0.0)
        >>> qul.loss(torch.tensor([[0.2, 0.3, 0.5]]).log(), torch.tensor([0]))  # -log .2 + (.3 - .2) + (.5 - .3)
        tensor(1.9094)

    Reference: Albuquerque, Cruz, Cardoso, "Quasi-unimodal distributions for ordinal classification", Mathematics 2022.
    """

    def __init__(
        self, num_classes: int, *, weight: float = 1.0, margin: float = 0.05, class_weight: PerClass | None = None
    ) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.weight = check_number("weight", weight, minimum=0)
        self.margin = check_number("margin", margin, minimum=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        probs = outputs.softmax(dim=-1)
        offsets = torch.arange(self.num_classes, device=labels.device) - labels.unsqueeze(-1)
        above = labels.unsqueeze(-1) + offsets.sign() * (offsets.abs() > 1)
        hinges = (self.margin + probs - probs.gather(-1, above)).relu() * (offsets != 0)
        return cross_entropy(outputs, labels) + self.weight * hinges.sum(dim=-1)


QUL = MethodRecord(
    name="qul",
    title="quasi-unimodal",
    family="distance",
    reference="Albuquerque, Cruz, Cardoso 2022, Quasi-unimodal distributions for ordinal classification",
    build=QuasiUnimodal,
)
