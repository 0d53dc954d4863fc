"""PO, Poisson and binomial: classes count events at a rate, or successes (da Costa et al. 2008; Beckham & Pal 2017)."""

from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from onepeak._core.tensors import Outputs, Scores, full_precision
from onepeak.methods.method import SoftmaxMethod, Variant
from onepeak.methods.precision import below_the_peak, widened
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import choice, number

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

    temperature: float = number(1.0, above=0)
    variant: Variant = choice("corrected", "as_published")

    def setup(self) -> None:
        self.decision = "mean" if self.variant == "corrected" else "floor_of_mean"
        self.rate_layer = nn.Linear(self.num_classes, 1)

    def class_scores(self, outputs: Outputs) -> Scores:
        outputs = full_precision(outputs)
        weight, bias = self.rate_layer.weight.to(outputs.dtype), self.rate_layer.bias.to(outputs.dtype)
        raw = (outputs * weight[0]).sum(dim=-1, keepdim=True) + bias  # autocast would run F.linear in half precision
        scores = poisson_log_probs(log_softplus(raw), self.num_classes) / self.temperature
        return scores if self.variant == "corrected" else -scores


PO = MethodRecord("po", "Poisson", "distribution", unimodal=True, as_published="differs", build=Poisson)


class LearntTemperature(SoftmaxMethod):
    """One output determines log-probabilities; their softmax at a learnt temperature is the posterior."""

    num_outputs = 1

    def setup(self) -> None:
        self.log_temperature = nn.Parameter(torch.zeros(()))

    def class_scores(self, outputs: Outputs) -> Scores:
        outputs = full_precision(outputs)
        return self.log_masses(outputs) / self.log_temperature.to(outputs.dtype).exp()

    def log_masses(self, outputs: Outputs) -> Scores:
        """The log-probabilities at a temperature of 1, up to a constant."""
        raise NotImplementedError


@final
class PoissonRate(LearntTemperature):
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

    def log_masses(self, outputs: Outputs) -> Scores:
        return poisson_log_probs(log_softplus(outputs), self.num_classes)


POISSON = MethodRecord(
    "poisson", "Poisson, learnt temperature", "distribution", num_outputs="1", unimodal=True, build=PoissonRate
)


@final
class Binomial(LearntTemperature):
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

    def log_masses(self, outputs: Outputs) -> Scores:
        return binomial_scores(outputs, self.num_classes)


BINOMIAL = MethodRecord(
    "binomial", "binomial, learnt temperature", "distribution", num_outputs="1", unimodal=True, build=Binomial
)


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


def binomial_scores(logit: Tensor, num_classes: int) -> Tensor:
    """Log P(k) of a binomial distribution for each class, minus its maximum, from a logit of shape (..., 1)."""
    wide = widened(logit)
    counts = torch.arange(num_classes, device=wide.device, dtype=wide.dtype)
    ways = -torch.lgamma(counts + 1) - torch.lgamma(num_classes - counts)
    return below_the_peak(ways + counts * wide, logit.dtype)
