"""MCE: the squared error of every probability, which is the Brier score."""

from typing import final

import torch

from onepeak._core.tensors import Labels, Outputs, PerSample
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord


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


MCE = MethodRecord(
    name="mce",
    title="squared error of the probabilities",
    family="plain",
    reference="Brier 1950, Verification of forecasts expressed in terms of probability",
    build=Brier,
)
