"""Binomial: one success probability, classes count successes (da Costa et al. 2008; Beckham & Pal 2017)."""

from typing import final

import torch
from torch import Tensor, nn

from onepeak._core.tensors import Outputs, PerClass, Scores, full_precision
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.record import MethodRecord
from onepeak.methods.unimodal_net import below_the_peak, widened


@final
class Binomial(SoftmaxMethod):
    r"""The posterior is a binomial distribution over the classes with a learnt temperature.

    .. math:: h_k = \log \binom{c-1}k + k \, o, \qquad p = \mathrm{softmax}(h / \tau), \qquad \ell = -\log p_y

    The single output is the logit of the success probability in each of c - 1 trials. With :math:`\tau = 1` the class
    probabilities are exactly those of the number of successes. One-peaked by construction (two neighbours tie if the
    success probability is midway between theirs), and symmetric: reversing the scale mirrors it.

    Example:
        >>> binomial = Binomial(num_classes=3)
        >>> binomial.log_probs(torch.zeros(1, 1)).exp()
        tensor([[0.2500, 0.5000, 0.2500]], grad_fn=...)

    Reference: da Costa, Alonso, Cardoso, "The unimodal model for the classification of ordinal data", Neural Networks
    2008; with the temperature, Beckham, Pal, "Unimodal probability distributions for deep ordinal classification",
    ICML 2017.
    """

    def __init__(self, num_classes: int, *, class_weight: PerClass | None = None) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.log_temperature = nn.Parameter(torch.zeros(()))

    @property
    def num_outputs(self) -> int:
        return 1

    def class_scores(self, outputs: Outputs) -> Scores:
        outputs = full_precision(outputs)
        return binomial_scores(outputs, self.num_classes) / self.log_temperature.to(outputs.dtype).exp()


def binomial_scores(logit: Tensor, num_classes: int) -> Tensor:
    """Log P(k) of a binomial distribution for each class, minus its maximum, from a logit of shape (..., 1)."""
    wide = widened(logit)
    counts = torch.arange(num_classes, device=wide.device, dtype=wide.dtype)
    ways = -torch.lgamma(counts + 1) - torch.lgamma(num_classes - counts)
    return below_the_peak(ways + counts * wide, logit.dtype)


BINOMIAL = MethodRecord(
    name="binomial",
    title="binomial, learnt temperature",
    family="distribution",
    reference="da Costa, Alonso, Cardoso 2008, The unimodal model for the classification of ordinal data",
    num_outputs="1",
    unimodal=True,
    build=Binomial,
)
