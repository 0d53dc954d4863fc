"""SLACE: soft labels against the probability gathered around the label (Nachmani et al. 2025)."""

from typing import final

import torch

from onepeak._check import check_number
from onepeak._shapes import Labels, Outputs, PerClass, PerSample
from onepeak.methods.softmax import SoftmaxMethod


@final
class Slace(SoftmaxMethod):
    r"""Cross-entropy of a soft label with the probability of all classes at least as near to the label.

    .. math:: \ell = -\sum_{k=0}^{c-1} q_k \log \sum_{j \,:\, |j - y| \le |k - y|} p_j, \qquad
              q_k \propto e^{-\alpha |k - y|}, \qquad p = \mathrm{softmax}(o)

    Mass that moves towards the label never costs more (the loss is monotone), and all of it on the label costs 0. The
    sum over classes is weighed by a distribution, so it needs no normaliser. Prediction: the mode. Not one-peaked by
    construction. Worked out in log space, where the authors' code adds 1e-9 to the sums.

    Args:
        num_classes: Number of classes, at least 2.
        sharpness: :math:`\alpha` of the soft label.
        class_weight: A weight of each class.

    Example:
        >>> slace = Slace(num_classes=2, sharpness=1.0)
        >>> slace.loss(torch.zeros(1, 2), torch.tensor([0]))  # log(2) / (1 + 1/e)
        tensor(0.5067)

    Reference: Nachmani, Genossar, Shraga, Gal, "SLACE: a monotone and balance-sensitive loss function for ordinal
    regression", AAAI 2025.
    """

    def __init__(self, num_classes: int, *, sharpness: float = 1.0, class_weight: PerClass | None = None) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.sharpness = check_number("sharpness", sharpness, above=0)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """The soft label's cross-entropy with the gathered probabilities."""
        place = labels.unsqueeze(-1)
        distances = (torch.arange(self.num_classes, device=labels.device) - place).abs()
        nearest_first = distances.argsort(dim=-1, stable=True)
        gathered = outputs.log_softmax(dim=-1).gather(-1, nearest_first).logcumsumexp(dim=-1)
        # how many other classes lie no farther than each: those below the label and those above it
        no_farther = distances.minimum(place) + distances.minimum(self.num_classes - 1 - place)
        soft_label = (-self.sharpness * distances.to(outputs.dtype)).softmax(dim=-1)
        return -(soft_label * gathered.gather(-1, no_farther)).sum(dim=-1)
