"""PO and Poisson: a Poisson distribution at the output (Beckham & Pal 2017)."""

from typing import final, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from onepeak._core.check import check_choice, check_number
from onepeak._core.tensors import Outputs, PerClass, Scores, full_precision
from onepeak.methods.method import SoftmaxMethod, Variant
from onepeak.methods.record import MethodRecord
from onepeak.methods.unimodal_net import below_the_peak, widened

_FAR = 40
"""This far from zero, softplus equals e^x below and x above in float64."""


@final
class Poisson(SoftmaxMethod):
    r"""The class scores are the log-probabilities of a Poisson distribution; the network determines only its rate.

    .. math:: h_k = k \log f - f - \log k!, \qquad f = \mathrm{softplus}(w^\top o + b), \qquad
              p = \mathrm{softmax}(h / \tau), \qquad \ell = -\log p_y

    The network has c outputs, which a linear layer of the method maps to one, as in Belharbi et al. 2019. One-peaked by
    construction (two neighbours tie at an integer rate). All computation is in log space, so any number of classes
    works. Prediction: the mean, rounded.

    `as_published` differs in two ways. The log-probabilities are negated before the softmax, which turns the posterior
    upside down (U-shaped: with 10 classes and a rate of 4, .24 and .33 at the ends and .02 in the middle). And the mean
    is rounded down. It does not copy the overflow of k! in float32 from k = 35 on, the cause of the missing results in
    the paper's Table 2.

    Args:
        temperature: :math:`\tau`.
        variant: "corrected" or "as_published".

    Example:
        >>> po = Poisson(num_classes=4)
        >>> po.class_scores(torch.zeros(1, 4)).shape
        torch.Size([1, 4])

    Reference: Beckham, Pal, "Unimodal probability distributions for deep ordinal classification", ICML 2017, eq. 4-7.
    """

    def __init__(
        self,
        num_classes: int,
        *,
        temperature: float = 1.0,
        variant: Variant = "corrected",
        class_weight: PerClass | None = None,
    ) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.temperature = check_number("temperature", temperature, above=0)
        self.variant = check_choice("variant", variant, get_args(Variant))
        self.decision = "mean" if variant == "corrected" else "floor_of_mean"
        self.rate_layer = nn.Linear(num_classes, 1)

    @property
    def num_outputs(self) -> int:
        return self.num_classes

    def class_scores(self, outputs: Outputs) -> Scores:
        outputs = full_precision(outputs)
        weight, bias = self.rate_layer.weight.to(outputs.dtype), self.rate_layer.bias.to(outputs.dtype)
        raw = (outputs * weight[0]).sum(
            dim=-1, keepdim=True
        ) + bias  # F.linear would run in half precision under autocast
        scores = poisson_log_probs(log_softplus(raw), self.num_classes) / self.temperature
        return scores if self.variant == "corrected" else -scores


def poisson_log_probs(log_rate: Tensor, num_classes: int) -> Tensor:
    """Log P(k) of a Poisson distribution for each class, shifted to a maximum of 0, from the logarithm of the rate.

    Float32 would produce ties and order violations from about a thousand classes on.
    """
    wide = widened(log_rate)
    counts = torch.arange(num_classes, device=wide.device, dtype=wide.dtype)
    log_probs = counts * wide - torch.lgamma(counts + 1)  # without the rate, which is the same for all classes
    return below_the_peak(log_probs, log_rate.dtype)


def log_softplus(raw: Tensor) -> Tensor:
    """Log softplus(x), which equals x far below zero, where softplus itself underflows to 0."""
    small = raw < -_FAR
    return torch.where(small, raw, F.softplus(torch.where(small, 0, raw), threshold=_FAR).log())


@final
class PoissonRate(SoftmaxMethod):
    r"""The posterior is a Poisson distribution over the classes with a learnt temperature.

    .. math:: h_k = k \log f - \log k!, \qquad f = \mathrm{softplus}(o), \qquad p = \mathrm{softmax}(h / \tau), \qquad
              \ell = -\log p_y

    As in Beckham and Pal, with one output and a learnt temperature; `po` is the variant of Belharbi et al., with c
    outputs, its own linear layer and a fixed temperature. One-peaked by construction (two neighbours tie at an integer
    rate). Posteriors are wider for later classes, so reversing the scale gives another method.

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
        return 1

    def class_scores(self, outputs: Outputs) -> Scores:
        outputs = full_precision(outputs)
        scores = poisson_log_probs(log_softplus(outputs), self.num_classes)
        return scores / self.log_temperature.to(outputs.dtype).exp()


PO = MethodRecord(
    name="po",
    title="Poisson",
    family="distribution",
    reference="Beckham, Pal 2017, Unimodal probability distributions for deep ordinal classification",
    unimodal=True,
    as_published="differs",
    build=Poisson,
)

POISSON = MethodRecord(
    name="poisson",
    title="Poisson, learnt temperature",
    family="distribution",
    reference="Beckham, Pal 2017, Unimodal probability distributions for deep ordinal classification",
    num_outputs="1",
    unimodal=True,
    build=PoissonRate,
)
