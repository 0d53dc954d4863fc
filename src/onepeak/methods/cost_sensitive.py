"""CS-CE: cross-entropy plus the expected cost of the posterior (Galdran et al. 2020)."""

from typing import final

import torch

from onepeak._core.check import check_number
from onepeak._core.tensors import Labels, Outputs, PerClass, PerSample
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord


@final
class CostSensitive(SoftmaxMethod):
    r"""Cross-entropy plus the cost that a class drawn from the posterior has on average.

    .. math:: \ell = -\log p_y + \lambda \sum_{k=0}^{c-1} \Big( \frac{|k - y|}{c - 1} \Big)^\alpha p_k, \qquad
              p = \mathrm{softmax}(o)

    Costs lie between 0 and 1, so that the weight means the same for any number of classes. The authors found the cost
    alone to stick at one class for all samples; the cross-entropy prevents that.

    Args:
        weight: :math:`\lambda`.
        power: :math:`\alpha`.

    Example:
        >>> cs = CostSensitive(num_classes=3, weight=1.0)
        >>> cs.loss(torch.zeros(1, 3), torch.tensor([0]))  # log 3 + (0 + 1/4 + 1) / 3
        tensor(1.5153)

    Reference: Galdran, Dolz, Chakor, Lombaert, Ben Ayed, "Cost-sensitive regularization for diabetic retinopathy
    grading from eye fundus images", MICCAI 2020.
    """

    def __init__(
        self, num_classes: int, *, weight: float = 10.0, power: float = 2.0, class_weight: PerClass | None = None
    ) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.weight = check_number("weight", weight, minimum=0)
        self.power = check_number("power", power, above=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        distances = (torch.arange(self.num_classes, device=labels.device) - labels.unsqueeze(-1)).abs()
        costs = (distances.to(outputs.dtype) / (self.num_classes - 1)) ** self.power
        return cross_entropy(outputs, labels) + self.weight * (costs * outputs.softmax(dim=-1)).sum(dim=-1)


CS_CE = MethodRecord(
    name="cs-ce",
    title="cost-sensitive cross-entropy",
    family="distance",
    reference="Galdran et al. 2020, Cost-sensitive regularization for diabetic retinopathy grading",
    build=CostSensitive,
)
