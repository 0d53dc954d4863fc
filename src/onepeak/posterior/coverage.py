"""How far the coverage of conformal intervals can deviate from 1 - alpha after a small calibration."""

import math

from onepeak._check import check_number
from onepeak.errors import InputError
from onepeak.posterior.conformal import conformal_rank, samples_needed

_STEPS = 50


def coverage_range(count: int, alpha: float, *, level: float = 0.9) -> tuple[float, float]:
    r"""The central range of the coverage over random calibration samples.

    The guarantee of 1 - alpha holds on average over calibrations. The coverage after one calibration on n samples
    follows :math:`\mathrm{Beta}(k, n + 1 - k)` with :math:`k = \lceil (n + 1)(1 - \alpha) \rceil`, the rank of the
    threshold, for any model without tied scores. Ties, as when the predicted label alone is correct more often than
    1 - alpha, only raise the coverage: the lower end still holds.

    Args:
        count: Number of calibration samples.
        alpha: The allowed share of samples whose label lies outside.
        level: The probability of the range; the rest is split evenly below and above.

    Returns:
        The lower and the upper end of the range, as shares.

    Example:
        >>> [round(share, 3) for share in coverage_range(9, 0.1)]  # the ninth roots of 0.05 and 0.95
        [0.717, 0.994]

    Reference: Vovk 2012, Conditional validity of inductive conformal predictors, section 3.
    """
    check_number("level", level, above=0, below=1)
    if count < samples_needed(alpha):
        raise InputError(f"`count` must be >= {samples_needed(alpha)} for `alpha` {alpha:g}, got {count}.")
    rank, rest = conformal_rank(count, alpha), (1 - level) / 2
    return _beta_quantile(rest, rank, count), _beta_quantile(1 - rest, rank, count)


def _beta_quantile(chance: float, rank: int, count: int) -> float:
    """The quantile of Beta(rank, count + 1 - rank) at `chance`, by bisection.

    Its distribution function at x is the probability of at least `rank` hits in `count` trials of probability x.
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
