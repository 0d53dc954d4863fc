"""The links of cumulative models: log (F(b) - F(a)) for a distribution function F, accurate in the tails."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._shapes import LogProbs, Outputs
from onepeak.methods.levels import SMALLEST_DIFFERENCE, log_differences

_END = 1e6
"""Stands for infinity: this far out, every distribution function here is 0 or 1."""

_LARGEST = 10.0
"""Up to here the complementary log-log link is exact; beyond, its exponential continues along the tangent. The
remaining probability there is e^-22026, 0 in floating point, but its logarithm must stay finite."""

_SMALL = -16.0
"""For x below e^-16, log (1 - e^-x) equals log x - x / 2 in float64."""


def logit_probs(places: Outputs) -> LogProbs:
    """The log-probabilities of the classes under the logistic distribution, from c - 1 rising thresholds."""
    return log_differences(-places)


def probit_probs(places: Outputs) -> LogProbs:
    """The same under the normal distribution."""
    lower, upper = _ends(places)
    flip = lower + upper > 0  # take differences in the lower tail, where they are accurate
    lower, upper = torch.where(flip, -upper, lower), torch.where(flip, -lower, upper)
    log_upper = log_normal(upper)
    step = (log_normal(lower) - log_upper).clamp(max=-SMALLEST_DIFFERENCE)
    return (log_upper + (-step.expm1()).log()).log_softmax(dim=-1)


def cloglog_probs(places: Outputs) -> LogProbs:
    r"""The same under the distribution function :math:`1 - e^{-e^x}`, the complementary log-log link."""
    lower, upper = _ends(places)
    exponential = _bounded_exp(lower)
    near = upper <= _LARGEST
    step = (lower - upper).clamp(max=-SMALLEST_DIFFERENCE)
    far_difference = (_bounded_exp(upper) - exponential).clamp(min=SMALLEST_DIFFERENCE)
    log_difference = torch.where(near, upper + (-step.expm1()).log(), torch.where(near, 1, far_difference).log())
    small = log_difference < _SMALL
    difference = log_difference.exp()
    large = torch.where(small, 1, difference)
    log_mass = torch.where(small, log_difference - difference / 2, (-(-large).expm1()).log())
    return (log_mass - exponential).log_softmax(dim=-1)


def log_normal(x: Tensor) -> Tensor:
    r"""Log of the normal distribution function; `torch.func.vmap` does not support `torch.special.log_ndtr`.

    Below zero it is :math:`\log \frac12 \mathrm{erfcx}(-x / \sqrt2) - x^2 / 2`, which never underflows.
    """
    scaled = x / math.sqrt(2)
    low = scaled < 0
    below, above = torch.where(low, scaled, 0), torch.where(low, 0, scaled)
    scaled_tail: Tensor = torch.special.erfcx(-below)
    return torch.where(low, (scaled_tail / 2).log() - below.square(), torch.log1p(-torch.erfc(above) / 2))


def _ends(places: Tensor) -> tuple[Tensor, Tensor]:
    """The lower and the upper end of each class's interval."""
    rising = places.cummax(dim=-1).values
    return F.pad(rising, (1, 0), value=-_END), F.pad(rising, (0, 1), value=_END)


def _bounded_exp(x: Tensor) -> Tensor:
    beyond = (x - _LARGEST).clamp(min=0)
    return x.clamp(max=_LARGEST).exp() * (1 + beyond)
