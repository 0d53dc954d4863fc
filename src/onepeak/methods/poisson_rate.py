"""Poisson: one rate from the network, and a learnt temperature (Beckham & Pal 2017)."""

from typing import final

import torch
from torch import nn

from onepeak._core.tensors import Outputs, PerClass, Scores, full_precision
from onepeak.methods.method import SoftmaxMethod
from onepeak.methods.poisson import log_softplus, poisson_log_probs
from onepeak.methods.record import MethodRecord


@final
class PoissonRate(SoftmaxMethod):
    r"""The posterior is a Poisson distribution over the classes with a learnt temperature.

    .. math:: h_k = k \log f - \log k!, \qquad f = \mathrm{softplus}(o), \qquad p = \mathrm{softmax}(h / \tau), \qquad
              \ell = -\log p_y

    As in Beckham and Pal, with one output and a learnt temperature; `po` is the variant of Belharbi et al., with c
    outputs, its own linear layer and a fixed temperature. One-peaked by construction (two neighbours tie at an integer
    rate). Posteriors are wider for later classes, so reversing the scale gives another method. Prediction: the mode.

    Example:
        >>> poisson = PoissonRate(num_classes=5)
        >>> poisson.predict(torch.tensor([[-3.0], [1.5], [9.0]]))
        tensor([0, 1, 4])

    Reference: Beckham, Pal, "Unimodal probability distributions for deep ordinal classification", ICML 2017, eq. 4-7.
    """

    def __init__(self, num_classes: int, *, class_weight: PerClass | None = None) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.log_temperature = nn.Parameter(torch.zeros(()))

    @property
    def num_outputs(self) -> int:
        """One output, whose softplus is the rate."""
        return 1

    def class_scores(self, outputs: Outputs) -> Scores:
        """The log-probabilities of the Poisson distribution, up to a constant, divided by the temperature."""
        outputs = full_precision(outputs)
        scores = poisson_log_probs(log_softplus(outputs), self.num_classes)
        return scores / self.log_temperature.to(outputs.dtype).exp()


POISSON = MethodRecord(
    name="poisson",
    title="Poisson, learnt temperature",
    family="distribution",
    reference="Beckham, Pal 2017, Unimodal probability distributions for deep ordinal classification",
    num_outputs="1",
    unimodal=True,
    build=PoissonRate,
)
