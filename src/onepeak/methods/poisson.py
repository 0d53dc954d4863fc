"""PO: a Poisson distribution at the output (Beckham & Pal 2017)."""

from typing import final, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from onepeak._check import check_choice, check_number
from onepeak._precision import full_precision
from onepeak._shapes import Labels, Outputs, PerClass, PerSample, Scores
from onepeak.constraints.cross_entropy import cross_entropy
from onepeak.methods.method import Variant
from onepeak.methods.softmax import SoftmaxMethod
from onepeak.methods.steps import below_the_peak, widened

_FAR = 40
"""So far from zero softplus is e^x below and x above, to the last digit of float64."""


@final
class Poisson(SoftmaxMethod):
    r"""The class scores are the log-probabilities of a Poisson distribution; the network only says its rate.

    .. math:: h_k = k \log f - f - \log k!, \qquad f = \mathrm{softplus}(w^\top o + b), \qquad
              p = \mathrm{softmax}(h / \tau), \qquad \ell = -\log p_y

    The network gives c numbers and a linear layer of the method's own makes one of them, as in Belharbi et al. 2019.
    One-peaked by construction (with the tie of two neighbours at a whole rate). Everything stays in log space, so any
    number of classes will do. Prediction: the mean, rounded.

    `as_published` differs in two things: the log-probabilities are negated before the softmax, which turns the
    posterior upside down (U-shaped: with 10 classes and a rate of 4, .24 and .33 at the ends and .02 in the middle),
    and the mean is floored. What it does not copy is the overflow of k! in float32 from 35 on, the reason for the
    missing figures in the paper's Table 2.

    Args:
        num_classes: Number of classes, at least 2.
        temperature: :math:`\tau`.
        variant: "corrected" or "as_published".
        class_weight: A weight of each class.

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
        """As many as classes: the method's own layer maps them to one."""
        return self.num_classes

    def class_scores(self, outputs: Outputs) -> Scores:
        """The log-probabilities of the Poisson distribution, up to a constant, divided by the temperature."""
        outputs = full_precision(outputs)
        weight, bias = self.rate_layer.weight.to(outputs.dtype), self.rate_layer.bias.to(outputs.dtype)
        raw = (outputs * weight[0]).sum(
            dim=-1, keepdim=True
        ) + bias  # F.linear would be in half precision under autocast
        scores = poisson_log_probs(log_softplus(raw), self.num_classes) / self.temperature
        return scores if self.variant == "corrected" else -scores

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """Cross-entropy of the scores."""
        return cross_entropy(self.class_scores(outputs), labels)


def poisson_log_probs(log_rate: Tensor, num_classes: int) -> Tensor:
    """Log P(k) of a Poisson distribution for every class, less its greatest, from the logarithm of the rate.

    In float32 it would have ties and wrong turns from some thousand classes on.
    """
    wide = widened(log_rate)
    counts = torch.arange(num_classes, device=wide.device, dtype=wide.dtype)
    log_probs = counts * wide - torch.lgamma(counts + 1)  # less the rate, which is the same for every class
    return below_the_peak(log_probs, log_rate.dtype)


def log_softplus(raw: Tensor) -> Tensor:
    """Log softplus(x), which is x far below zero, where softplus itself underflows to 0."""
    small = raw < -_FAR
    return torch.where(small, raw, F.softplus(torch.where(small, 0, raw), threshold=_FAR).log())
