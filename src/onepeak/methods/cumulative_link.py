"""CLM: cumulative link models, also called proportional odds (McCullagh 1980)."""

from typing import Literal, TypeAlias, final, get_args

import torch
from torch import Tensor, nn

from onepeak._check import check_choice
from onepeak._precision import full_precision
from onepeak._shapes import Labels, LogProbs, Outputs, PerClass, PerSample
from onepeak.methods.links import cloglog_probs, logit_probs, probit_probs
from onepeak.methods.method import Method

Link: TypeAlias = Literal["logit", "probit", "cloglog"]


@final
class CumulativeLink(Method):
    r"""The network outputs a position on a line, which c - 1 thresholds cut into classes.

    .. math:: P(y \le k) = F(\theta_k - o), \qquad \theta_k = \theta_0 + \sum_{j=1}^{k} e^{g_j}, \qquad
              \ell = -\log p_y

    where F is the logistic or the normal distribution function, or :math:`1 - e^{-e^x}`. The thresholds are parameters
    of the method and in order by construction. They start where all classes are equally probable at an output of 0, and
    are trained with ten times the learning rate of the network (`own_rate`). All computation is in log space, so the
    log-probability of a class far from the output is finite. Prediction: the mode. Not one-peaked by construction: a
    narrow class between two wide ones is a dip.

    Args:
        num_classes: Number of classes, at least 2.
        link: "logit", "probit" or "cloglog".
        class_weight: Weight of each class.

    Example:
        >>> clm = CumulativeLink(num_classes=4)
        >>> clm.log_probs(torch.zeros(1, 1)).exp()
        tensor([[0.2500, 0.2500, 0.2500, 0.2500]], grad_fn=...)

    Reference: McCullagh, "Regression models for ordinal data", JRSS B 1980; in networks, Vargas, Gutiérrez,
    Hervás-Martínez, "Cumulative link models for deep ordinal classification", Neurocomputing 2020.
    """

    own_rate = 10.0

    def __init__(self, num_classes: int, *, link: Link = "logit", class_weight: PerClass | None = None) -> None:
        super().__init__(num_classes, class_weight=class_weight)
        self.link = check_choice("link", link, get_args(Link))
        start = quantiles(torch.arange(1, num_classes, dtype=torch.float64) / num_classes, link).float()
        self.first = nn.Parameter(start[0].clone())
        self.log_gaps = nn.Parameter(start.diff().log())

    @property
    def num_outputs(self) -> int:
        """One position."""
        return 1

    @property
    def thresholds(self) -> Tensor:
        """The boundaries between adjacent classes."""
        first, gaps = full_precision(self.first), full_precision(self.log_gaps).exp()
        return first + torch.cat([gaps.new_zeros(1), gaps.cumsum(dim=0)])

    def posterior_of(self, outputs: Outputs) -> LogProbs:
        """The probability between adjacent thresholds."""
        outputs = full_precision(outputs)
        places = self.thresholds.to(outputs.dtype) - outputs
        match self.link:
            case "logit":
                return logit_probs(places)
            case "probit":
                return probit_probs(places)
            case "cloglog":
                return cloglog_probs(places)
            case unknown:
                raise AssertionError(unknown)

    def sample_losses(self, outputs: Outputs, labels: Labels) -> PerSample:
        """Minus the log-probability of the label."""
        return -self.posterior_of(outputs).gather(-1, labels.unsqueeze(-1)).squeeze(-1)


def quantiles(shares: Tensor, link: Link) -> Tensor:
    """The quantiles of the link's distribution."""
    match link:
        case "logit":
            return shares.logit()
        case "probit":
            places: Tensor = torch.special.ndtri(shares)
            return places
        case "cloglog":
            return (-torch.log1p(-shares)).log()


def clm_probit(num_classes: int, *, class_weight: PerClass | None = None) -> CumulativeLink:
    """The cumulative link model with a normal distribution."""
    return CumulativeLink(num_classes, link="probit", class_weight=class_weight)


def clm_cloglog(num_classes: int, *, class_weight: PerClass | None = None) -> CumulativeLink:
    """The cumulative link model with the complementary log-log link."""
    return CumulativeLink(num_classes, link="cloglog", class_weight=class_weight)


def clm(num_classes: int, *, class_weight: PerClass | None = None) -> CumulativeLink:
    """The cumulative link model with a logistic distribution: proportional odds."""
    return CumulativeLink(num_classes, link="logit", class_weight=class_weight)
