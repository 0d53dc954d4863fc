"""CORAL: one score and c - 1 biases, which make the levels consistent (Cao et al. 2020)."""

from typing import final

import torch
from torch import Tensor, nn

from onepeak._core.tensors import Labels, LogProbs, Outputs, PerClass, PerSample, full_precision
from onepeak.methods.levels import level_cross_entropy, log_differences
from onepeak.methods.method import Method
from onepeak.methods.record import MethodRecord


@final
class Coral(Method):
    r"""The questions "is the label above k?" share one score and differ only in their biases.

    .. math:: \ell = -\sum_{k=0}^{c-2} \big( [y > k] \log \sigma(o + b_k) + [y \le k] \log \sigma(-o - b_k) \big),
              \qquad p_k = \sigma(o + b_{k-1}) - \sigma(o + b_k)

    The biases are parameters of the method. They start at values from 1 down to 1 / (c - 1) and are trained with ten
    times the learning rate of the network (`own_rate`). They are not forced to be in order, but they are at the minimum
    of the loss (theorem 1 of the paper); until then the posterior uses the running minimum of the levels. The sum is
    over the levels. Prediction: the number of levels above one half, which is the median. Not one-peaked by
    construction.

    Example:
        >>> coral = Coral(num_classes=3)
        >>> coral.predict(torch.tensor([[-3.0], [-0.7], [3.0]]))
        tensor([0, 1, 2])

    Reference: Cao, Mirjalili, Raschka, "Rank consistent ordinal regression for neural networks with application to age
    estimation", Pattern Recognition Letters 2020.
    """

    decision = "median"
    own_rate = 10.0

    def __init__(self, num_classes: int, *, class_weight: PerClass | None = None) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.biases = nn.Parameter(torch.arange(num_classes - 1, 0, -1) / (num_classes - 1))

    @property
    def num_outputs(self) -> int:
        return 1

    def levels(self, outputs: Outputs) -> Tensor:
        """The logit of each level."""
        outputs = full_precision(outputs)
        return outputs + self.biases.to(outputs.dtype)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        return level_cross_entropy(self.levels(outputs), labels)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return log_differences(self.levels(outputs))


CORAL = MethodRecord(
    name="coral",
    title="levels with one score",
    family="levels",
    reference="Cao, Mirjalili, Raschka 2020, Rank consistent ordinal regression for neural networks",
    num_outputs="1",
    build=Coral,
)
