"""How far the coverage of conformal intervals may be from what they promise, when few samples set their width."""

import math

from onepeak._check import check_number
from onepeak.errors import InputError
from onepeak.posterior.conformal import conformal_rank, samples_needed

_STEPS = 50


def coverage_range(count: int, alpha: float, *, level: float = 0.9) -> tuple[float, float]:
    r"""Between which shares the coverage lies, over all samples that might have been calibrated on.

    The promise of 1 - alpha holds on average over calibrations. The share of new samples that one calibration on n
    samples covers is :math:`\mathrm{Beta}(k, n + 1 - k)`, with the rank :math:`k = \lceil (n + 1)(1 - \alpha) \rceil`
    of the threshold, whatever the model, if no two scores are equal. Equal scores, as where the predicted label alone
    is right more often than 1 - alpha, only raise it: the lower end holds all the same.

    Args:
        count: The samples that were calibrated on.
        alpha: The share of samples whose label may lie outside.
        level: The probability of the range, as much of the rest below as above it.

    Example:
        >>> [round(share, 3) for share in coverage_range(9, 0.1)]  # the roots 9 of 0.05 and 0.95
        [0.717, 0.994]

    Reference: Vovk 2012, Conditional validity of inductive conformal predictors, section 3.
    """
    check_number("level", level, above=0, below=1)
    if count < samples_needed(alpha):
        raise InputError(f"`count` must be >= {samples_needed(alpha)} for `alpha` {alpha:g}, got {count}.")
    rank, rest = conformal_rank(count, alpha), (1 - level) / 2
    return _beta_quantile(rest, rank, count), _beta_quantile(1 - rest, rank, count)


def _beta_quantile(chance: float, rank: int, count: int) -> float:
    """Where Beta(rank, count + 1 - rank) has so much below it.

    What it has below x is the chance of `rank` hits or more in `count` tries that hit with probability x each.
    """
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if sum(_binomial(hits, count, middle) for hits in range(rank, count + 1)) < chance:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _binomial(hits: int, count: int, chance: float) -> float:
    ways = math.lgamma(count + 1) - math.lgamma(hits + 1) - math.lgamma(count - hits + 1)
    return math.exp(ways + hits * math.log(chance) + (count - hits) * math.log1p(-chance))
