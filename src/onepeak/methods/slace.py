"""SLACE: soft labels against the probability accumulated around the label (Nachmani et al. 2025)."""

from typing import final

from onepeak._core.tensors import Labels, Outputs, PerSample
from onepeak.methods.method import SoftmaxMethod, offsets_from
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import number


@final
class Slace(SoftmaxMethod):
    r"""Cross-entropy of a soft label with the probability of all classes at least as close to the label.

    .. math:: \ell = -\sum_{k=0}^{c-1} q_k \log \sum_{j \,:\, |j - y| \le |k - y|} p_j, \qquad
              q_k \propto e^{-\alpha |k - y|}, \qquad p = \mathrm{softmax}(o)

    The loss is monotone: moving probability towards the label never increases it, and it is 0 if the label has all the
    probability. The sum over classes is weighted by a distribution, so it needs no normaliser. It is computed in log
    space, where the authors' code adds 1e-9 to the sums.

    Args:
        sharpness: :math:`\alpha` of the soft label.

    Example:
        >>> import torch
        >>> slace = Slace(num_classes=2, sharpness=1.0)
        >>> slace.loss(torch.zeros(1, 2), torch.tensor([0]))  # log(2) / (1 + 1/e)
        tensor(0.5067)

    Reference: Nachmani, Genossar, Shraga, Gal, "SLACE: a monotone and balance-sensitive loss function for ordinal
    regression", AAAI 2025.
    """

    sharpness: float = number(1.0, above=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        place = labels.unsqueeze(-1)
        distances = offsets_from(labels, self.num_classes).abs()
        nearest_first = distances.argsort(dim=-1, stable=True)
        gathered = outputs.log_softmax(dim=-1).gather(-1, nearest_first).logcumsumexp(dim=-1)
        # the number of other classes at most as far as each: those below the label plus those above it
        no_farther = distances.minimum(place) + distances.minimum(self.num_classes - 1 - place)
        soft_label = (-self.sharpness * distances.to(outputs.dtype)).softmax(dim=-1)
        return -(soft_label * gathered.gather(-1, no_farther)).sum(dim=-1)


SLACE = MethodRecord("slace", "soft labels, accumulated", "distance", build=Slace)
