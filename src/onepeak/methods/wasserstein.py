"""WU: cross-entropy and the distance to the nearest posterior that peaks at the label (Cardoso et al. 2023)."""

from typing import final

from onepeak._core.tensors import Labels, Outputs, PerSample
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import number
from onepeak.posterior import project


@final
class WassersteinUnimodal(SoftmaxMethod):
    r"""Cross-entropy plus the distance that probability must move to form one peak at the label.

    .. math:: \ell = -\log p_y + \lambda \sum_{k=0}^{c-2} | P_k - Q_k |, \qquad p = \mathrm{softmax}(o)

    where P and Q are the cumulative probabilities of p and of the nearest distribution that rises to the label and
    falls after it. The sum is over the c - 1 levels.

    The paper finds the nearest distribution in the Wasserstein distance, with a linear program per sample. Here it is
    the nearest in squared distance (`onepeak.posterior.project` at the label), computed for the whole batch at once;
    the distance to it is the Wasserstein distance, as in the paper. The gradient passes through the projection, which
    the authors' code treats as a constant.

    Args:
        weight: :math:`\lambda`.

    Example:
        >>> import torch
        >>> wu = WassersteinUnimodal(num_classes=3, weight=1.0)
        >>> wu.loss(torch.tensor([[0.2, 0.5, 0.3]]).log(), torch.tensor([0]))  # nearest: .35 .35 .3
        tensor(1.7594)

    Reference: Cardoso, Cruz, Albuquerque, "Unimodal distributions for ordinal regression", 2023.
    """

    weight: float = number(10.0, minimum=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        log_probs = outputs.log_softmax(dim=-1)
        nearest = project(log_probs, labels)
        levels = (log_probs.exp() - nearest.exp()).cumsum(dim=-1)[..., :-1]
        return cross_entropy(outputs, labels) + self.weight * levels.abs().sum(dim=-1)


WU = MethodRecord(
    name="wu",
    title="cross-entropy and the distance to one peak",
    family="constraint",
    reference="Cardoso, Cruz, Albuquerque 2023, Unimodal distributions for ordinal regression",
    build=WassersteinUnimodal,
)
