"""A position between thresholds: cumulative link models (McCullagh 1980), and hinges at them (Chu & Keerthi 2005)."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from onepeak._core.tensors import Labels, LogProbs, Outputs, PerSample, full_precision
from onepeak.methods.levels import SMALLEST_DIFFERENCE, answers, log_differences
from onepeak.methods.method import Method
from onepeak.methods.record import MethodRecord
from onepeak.methods.settings import choice, number

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
    return log_normal_mass(*_ends(places)).log_softmax(dim=-1)


def log_normal_mass(lower: Tensor, upper: Tensor) -> Tensor:
    """The logarithm of the probability of an interval under the normal distribution, accurate in both tails."""
    flip = lower + upper > 0  # take differences in the lower tail, where they are accurate
    lower, upper = torch.where(flip, -upper, lower), torch.where(flip, -lower, upper)
    log_upper = log_normal(upper)
    step = (log_normal(lower) - log_upper).clamp(max=-SMALLEST_DIFFERENCE)
    return log_upper + (-step.expm1()).log()


def cauchit_probs(places: Outputs) -> LogProbs:
    r"""The same under the Cauchy distribution, :math:`\frac12 + \frac1\pi \arctan x`: angles between thresholds.

    An angle is found from its sine and cosine, which keeps its digits in the tails, where arctangents are all alike.
    """
    rising = places.cummax(dim=-1).values
    gaps = rising.diff(dim=-1).clamp(min=SMALLEST_DIFFERENCE)
    first, last = torch.atan2(torch.ones_like(rising[..., :1]), -rising[..., :1]), rising[..., -1:]
    between = torch.atan2(gaps, 1 + rising[..., :-1] * rising[..., 1:])
    angles = torch.cat([first, between, torch.atan2(torch.ones_like(last), last)], dim=-1)
    return angles.log().log_softmax(dim=-1)


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


def loglog_probs(places: Outputs) -> LogProbs:
    r"""The same under :math:`e^{-e^{-x}}`, the complementary link on the reversed scale."""
    return cloglog_probs(-places.flip(-1)).flip(-1)


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


class Link(NamedTuple):
    """A distribution over the line: its name in titles, its quantiles, the log-probabilities of intervals."""

    title: str
    quantiles: Callable[[Tensor], Tensor]
    log_probs: Callable[[Outputs], LogProbs]


LINKS = {
    "logit": Link("logit (proportional odds)", torch.logit, logit_probs),
    "probit": Link("probit", torch.special.ndtri, probit_probs),
    "cloglog": Link("complementary log-log", lambda share: (-torch.log1p(-share)).log(), cloglog_probs),
    "loglog": Link("log-log", lambda share: -(-share.log()).log(), loglog_probs),
    "cauchit": Link("Cauchy", lambda share: (math.pi * (share - 0.5)).tan(), cauchit_probs),
}


@final
class CumulativeLink(Method):
    r"""The network outputs a position on a line, which c - 1 thresholds cut into classes.

    .. math:: P(y \le k) = F(\theta_k - o), \qquad \theta_k = \theta_0 + \sum_{j=1}^{k} e^{g_j}, \qquad
              \ell = -\log p_y

    where F is the logistic, the normal or the Cauchy distribution function, :math:`1 - e^{-e^x}` ("cloglog") or
    :math:`e^{-e^{-x}}` ("loglog"). The heavy tails of the Cauchy let a wrong label far away move little. The thresholds
    are parameters of the method and in order by construction. They start where all classes are equally probable at an
    output of 0, and are trained with ten times the learning rate of the network (`own_rate`). All computation is in log
    space, so the log-probability of a class far from the output is finite. Not one-peaked by construction: a narrow
    class between two wide ones is a dip.

    Args:
        link: "logit", "probit", "cloglog", "loglog" or "cauchit".

    Example:
        >>> clm = CumulativeLink(num_classes=4)
        >>> clm.log_probs(torch.zeros(1, 1)).exp()
        tensor([[0.2500, 0.2500, 0.2500, 0.2500]], grad_fn=...)

    Reference: McCullagh, "Regression models for ordinal data", JRSS B 1980; in networks, Vargas, Gutiérrez,
    Hervás-Martínez, "Cumulative link models for deep ordinal classification", Neurocomputing 2020.
    """

    own_rate = 10.0
    num_outputs = 1
    link: str = choice(*LINKS)

    def setup(self) -> None:
        shares = torch.arange(1, self.num_classes, dtype=torch.float64) / self.num_classes
        start = LINKS[self.link].quantiles(shares).float()
        self.first = nn.Parameter(start[0].clone())
        self.log_gaps = nn.Parameter(start.diff().log())

    @property
    def thresholds(self) -> Tensor:
        """The boundaries between adjacent classes."""
        first, gaps = full_precision(self.first), full_precision(self.log_gaps).exp()
        return first + torch.cat([gaps.new_zeros(1), gaps.cumsum(dim=0)])

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        outputs = full_precision(outputs)
        return LINKS[self.link].log_probs(self.thresholds.to(outputs.dtype) - outputs)


def _record(link: str) -> MethodRecord:
    return MethodRecord(
        "clm" if link == "logit" else f"clm-{link}",
        f"cumulative link, {LINKS[link].title}",
        "levels",
        num_outputs="1",
        build=CumulativeLink,
        fixed={"link": link},
    )


CLM, CLM_PROBIT, CLM_CLOGLOG, CLM_LOGLOG, CLM_CAUCHIT = (_record(link) for link in LINKS)


@final
class ThresholdHinge(Method):
    r"""The network outputs a position on a line, which must lie on the right side of thresholds by a margin.

    .. math:: \ell = \sum_{k \in K_y} \max(0, \delta - \sigma_{yk} (o - \theta_k)), \qquad \sigma_{yk} = +1
              \text{ if } k < y, \text{ else } -1

    where K is all thresholds, or the two next to the label ("immediate"). With all thresholds, the loss is an upper
    bound of the absolute error; with the immediate ones, of the error rate. The thresholds are those of
    `CumulativeLink`: parameters, in order by construction, trained with ten times the learning rate of the network.
    The authors give labels only. Our posterior is that of proportional odds at the same thresholds, and the prediction
    its median, the number of thresholds below the position, as theirs.

    Args:
        thresholds: "all" or "immediate".
        margin: :math:`\delta`.

    Example:
        >>> hinge = ThresholdHinge(num_classes=3)  # thresholds -0.69 and 0.69
        >>> hinge.loss(torch.zeros(1, 1), torch.tensor([0]))  # (1 - 0.69) + (1 - 0.69) and above -0.69 by 0.69
        tensor(2., grad_fn=...)

    Reference: Chu, Keerthi, "New approaches to support vector ordinal regression", ICML 2005; Shashua, Levin, "Ranking
    with large margin principle", NeurIPS 2002; Rennie, Srebro, "Loss functions for preference levels", 2005.
    """

    decision = "median"
    own_rate = 10.0
    num_outputs = 1
    thresholds: str = choice("all", "immediate")
    margin: float = number(1.0, above=0)

    def setup(self) -> None:
        self.line = CumulativeLink(self.num_classes)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        above = answers(labels, self.num_classes - 1)
        beyond = full_precision(outputs) - self.line.thresholds.to(outputs.dtype)
        hinges = (self.margin - torch.where(above, beyond, -beyond)).relu()
        return (hinges if self.thresholds == "all" else hinges * self._next_to(labels, hinges)).sum(dim=-1)

    def _next_to(self, labels: Labels, like: Tensor) -> Tensor:
        place = torch.arange(self.num_classes - 1, device=labels.device)
        return ((place == labels.unsqueeze(-1)) | (place == labels.unsqueeze(-1) - 1)).to(like.dtype)

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        return self.line.posterior_of(outputs)


AT_HINGE = MethodRecord(
    "at-hinge", "hinge at all thresholds", "levels", num_outputs="1", build=ThresholdHinge, fixed={"thresholds": "all"}
)

IT_HINGE = replace(
    AT_HINGE, name="it-hinge", title="hinge at the two next thresholds", fixed={"thresholds": "immediate"}
)
