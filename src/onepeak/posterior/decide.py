"""From a posterior to a label: each decision minimises its own expected cost.

| decision | minimises the expected |
|---|---|
| `mode` | error rate |
| `median` | absolute error |
| `mean` | squared error |
| `minimum_cost` | cost in your own table |

`KappaRule` maximises the quadratic weighted kappa of a population, which is no mean over samples.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor

from onepeak._core.check import check_class_scores, check_log_probs, check_number, readable
from onepeak._core.tensors import Labels, LogProbs, PerSample, full_precision
from onepeak.errors import InputError, NotFiniteError


def mode(log_probs: LogProbs) -> Labels:
    """The most probable label, the lowest one if tied. It minimises the error rate.

    Example:
        >>> mode(torch.tensor([0.4, 0.1, 0.2, 0.3]).log())
        tensor(0)
    """
    check_class_scores(log_probs, name="log_probs")  # only the order matters, so scores are accepted
    return log_probs.argmax(dim=-1)


def median(log_probs: LogProbs) -> Labels:
    """The lowest label at which the cumulative probability reaches one half. It minimises the expected absolute error.

    Example:
        >>> median(torch.tensor([0.4, 0.1, 0.2, 0.3]).log())
        tensor(1)
    """
    check_log_probs(log_probs)
    # Counting the labels with more than half above them needs no search, and exactly 0.5 stops at the lower label.
    # Both tails are summed, because 1 - cumsum would lose the upper tail to rounding.
    probs = full_precision(log_probs).softmax(dim=-1)
    lower = probs.cumsum(dim=-1)
    upper = probs.flip(-1).cumsum(dim=-1).flip(-1) - probs
    return (lower < upper).sum(dim=-1)


def mean(log_probs: LogProbs) -> Labels:
    """The expected label, rounded half up. It minimises the expected squared error.

    Example:
        >>> mean(torch.tensor([0.4, 0.1, 0.2, 0.3]).log())
        tensor(1)
    """
    check_log_probs(log_probs)
    return (expected_label(log_probs) + 0.5).floor().long().clamp_(0, log_probs.shape[-1] - 1)


def floor_of_mean(log_probs: LogProbs) -> Labels:
    """The expected label, rounded down, as in the published code of Belharbi et al. 2019 for MV and PO.

    It is half a class too low on average. Use it only to reproduce their results.

    Example:
        >>> floor_of_mean(torch.tensor([0.1, 0.0, 0.9]).log())
        tensor(1)
    """
    check_log_probs(log_probs)
    return expected_label(log_probs).floor().long().clamp_(0, log_probs.shape[-1] - 1)


def minimum_cost(log_probs: LogProbs, cost_matrix: Tensor) -> Labels:
    r"""The label with the lowest expected cost, the lowest label if tied.

    .. math:: \arg\min_d \sum_k p_k \, C_{k d}

    The costs :math:`|k - d|` give the median and :math:`(k - d)^2` the mean, up to ties. A cost of 1 off the diagonal
    and 0 on it gives the mode. Your own table can state, for example, that a missed tumour costs ten times as much as a
    false alarm.

    Args:
        log_probs: Log-probabilities of the classes.
        cost_matrix: The cost of predicting a label (column) when another is true (row), classes x classes, in the
            layout of `onepeak.metrics.functional.confusion_matrix`.

    Example:
        >>> missing_costs_more = torch.tensor([[0.0, 1.0, 1.0], [5.0, 0.0, 1.0], [10.0, 5.0, 0.0]])
        >>> minimum_cost(torch.tensor([0.6, 0.25, 0.15]).log(), missing_costs_more)
        tensor(2)
    """
    check_log_probs(log_probs)
    num_classes = log_probs.shape[-1]
    if not isinstance(cost_matrix, Tensor) or cost_matrix.shape != (num_classes, num_classes):
        found = tuple(cost_matrix.shape) if isinstance(cost_matrix, Tensor) else type(cost_matrix).__name__
        raise InputError(
            f"`cost_matrix` must be a tensor of shape {(num_classes, num_classes)}, one row per true label and one "
            f"column per predicted label, got {found}."
        )
    if readable(cost_matrix) and not cost_matrix.isfinite().all():
        bad = int((~cost_matrix.isfinite()).sum())
        raise NotFiniteError(f"`cost_matrix` must be finite, got {bad} NaN or infinite values.")
    probs = full_precision(log_probs).softmax(dim=-1)
    with torch.autocast(probs.device.type, enabled=False):  # autocast would round to half precision
        return (probs @ cost_matrix.to(probs)).argmin(dim=-1)


_ROUNDS = 100
_LEAST_KAPPA = 0.1


@dataclass(frozen=True, kw_only=True)
class KappaRule:
    r"""The decision that maximises the expected quadratic weighted kappa (QWK) over samples like those it is learnt on.

    QWK is a ratio of sums over samples, so the best label of each depends on the others. Of a ratio :math:`N / D` that
    reaches :math:`q`, each sample maximises its part of :math:`N - q D` (Dinkelbach 1967): the label nearest to

    .. math:: m + \frac{E[y] - m}{q}

    for the mean label :math:`m`: the rounded mean of the posterior, moved away from the middle, where it gathers.

    Example:
        >>> log_probs = torch.tensor([[0.8, 0.1, 0.1], [0.3, 0.4, 0.3], [0.2, 0.2, 0.6]]).log()
        >>> rule = KappaRule.learn(log_probs)
        >>> mean(log_probs), rule(log_probs)
        (tensor([0, 1, 1]), tensor([0, 1, 2]))
    """

    centre: float
    """The mean label."""
    scale: float
    """The QWK that is reached."""

    def __post_init__(self) -> None:
        check_number("scale", self.scale, above=0)

    @staticmethod
    def learn(log_probs: LogProbs) -> "KappaRule":
        """Learns both figures from calibrated posteriors of a population; their labels need not be known."""
        check_log_probs(log_probs)
        probs, labels = log_probs.double().softmax(dim=-1), torch.arange(log_probs.shape[-1], dtype=torch.float64)
        expected, squared = probs @ labels, probs @ labels.square()
        rule = KappaRule(centre=float(expected.mean()), scale=1.0)
        for _ in range(_ROUNDS):
            decided = rule(log_probs).double()
            agreed = 2 * (decided * (expected - rule.centre)).sum()
            kappa = float(agreed / (decided * (decided - 2 * rule.centre) + squared).sum())
            kappa = max(kappa, _LEAST_KAPPA) if kappa == kappa else 1.0  # NaN if all are surely of one class
            if kappa == rule.scale:
                break
            rule = KappaRule(centre=rule.centre, scale=kappa)
        return rule

    def __call__(self, log_probs: LogProbs) -> Labels:
        """Returns the label of each sample."""
        best = self.centre + (expected_label(log_probs) - self.centre) / self.scale
        return (best + 0.5).floor().long().clamp(0, log_probs.shape[-1] - 1)


def expected_label(log_probs: LogProbs) -> PerSample:
    """The mean of the posterior, not rounded.

    Example:
        >>> expected_label(torch.tensor([0.25, 0.25, 0.5]).log())
        tensor(1.2500)
    """
    probs = full_precision(log_probs).softmax(dim=-1)
    labels = torch.arange(log_probs.shape[-1], device=probs.device, dtype=probs.dtype)
    return (probs * labels).sum(dim=-1)  # not a matrix product, which autocast would round to half precision


DECISIONS: MappingProxyType[str, Callable[[LogProbs], Labels]] = MappingProxyType(
    {"mode": mode, "median": median, "mean": mean, "floor_of_mean": floor_of_mean}
)
"""The decisions that need only the posterior, by name."""
