"""Is a difference between two methods real? Tests and effect sizes on the differences of paired runs.

Every function takes one difference per pair (method minus other, on the same split and fold) and says what it returns
where the question has no answer; none of them warns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak._check import check_number
from onepeak._extras import require
from onepeak.errors import InputError, NotFiniteError

Differences: TypeAlias = npt.NDArray[np.float64]

_SAME = 9
"""Differences that agree to so many digits of the largest are equal: an MAE is a multiple of one over the number of
samples, so differences tie often, but for the last bit."""

_MOST_EXACT = 50
"""The most differences whose signs are counted out in Wilcoxon's test, as in scipy."""


@dataclass(frozen=True, kw_only=True)
class WilcoxonResult:
    """What the signed-rank test found."""

    statistic: float
    """The smaller of the two sums of ranks; NaN where no difference is left."""
    p_value: float
    num_zero: int
    """Pairs without a difference, which the test leaves out."""


def corrected_t_test(differences: Differences, *, test_train_ratio: float) -> float:
    r"""The p-value of the corrected resampled t-test, two-sided: is the mean difference zero?

    Runs on splits of one data set share training samples, so their differences vary less than independent ones would
    and the plain paired t-test finds too much. The correction widens the variance of the mean:

    .. math:: t = \frac{\bar d}{\sqrt{\left(\frac{1}{n} + \frac{n_{test}}{n_{train}}\right) s^2}}, \quad n - 1
        \text{ degrees of freedom}

    It is made for test parts drawn anew each time. Folds that share one test part are more alike than it assumes:
    several splits say more than several folds of one.

    Args:
        differences: One per pair of runs.
        test_train_ratio: Samples tested on by samples trained on.

    Returns:
        NaN for fewer than two pairs; 1 where all differences are zero. Where all are the same and not zero there is no
        spread to measure by: then the exact sign test's, :math:`2^{1-n}`, which is 1/2 for two pairs.

    Example:
        >>> round(corrected_t_test(np.array([0.1, 0.3, 0.2, 0.4]), test_train_ratio=0.25), 4)
        0.0714

    Reference: Nadeau, Bengio 2003, Inference for the generalization error, Machine Learning 52.
    """
    _check(differences)
    n = len(differences)
    if n < 2:
        return np.nan
    check_number("test_train_ratio", test_train_ratio, above=0.0)
    mean, deviation = differences.mean(), _spread(differences)
    if deviation == 0:
        return 1.0 if mean == 0 else 2.0 ** (1 - n)
    stats = require("scipy.stats", extra="report", purpose="A significance test")
    t = mean / (deviation * np.sqrt(1 / n + test_train_ratio))
    return float(2 * stats.t.sf(abs(t), df=n - 1))


def wilcoxon(differences: Differences) -> WilcoxonResult:
    """Wilcoxon's signed-rank test, two-sided: are the differences spread evenly around zero?

    Pairs without a difference are left out (and counted). Exact up to 50 differences, ties or not; beyond that the
    normal approximation, corrected for ties.

    Args:
        differences: One per pair of runs.

    Returns:
        With a p-value of 1 where all differences are zero, and NaN where there is no pair. Five pairs cannot reach
        .05: the smallest p-value of n pairs is 2 / 2^n.

    Example:
        >>> wilcoxon(np.array([0.1, 0.3, 0.2, 0.4, 0.0, -0.15]))
        WilcoxonResult(statistic=2.0, p_value=0.1875, num_zero=1)
    """
    _check(differences)
    if not len(differences):
        return WilcoxonResult(statistic=np.nan, p_value=np.nan, num_zero=0)
    changed = _without_zeros(differences)
    num_zero = len(differences) - len(changed)
    if not len(changed):
        return WilcoxonResult(statistic=np.nan, p_value=1.0, num_zero=num_zero)
    stats = require("scipy.stats", extra="report", purpose="A significance test")
    if len(changed) > _MOST_EXACT:
        found = stats.wilcoxon(changed)
        return WilcoxonResult(statistic=float(found.statistic), p_value=float(found.pvalue), num_zero=num_zero)
    doubled = np.rint(2 * stats.rankdata(np.abs(changed))).astype(np.int64)
    smaller = int(min(doubled[changed > 0].sum(), doubled[changed < 0].sum()))
    return WilcoxonResult(statistic=smaller / 2, p_value=_exact_p(doubled, smaller), num_zero=num_zero)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction of several p-values, so that the chance of even one false finding stays below the level.

    The smallest is multiplied by their number, the next by one less, and so on; none falls below a smaller one's, none
    rises above 1. A NaN was no test: it stays NaN and is not counted.

    Example:
        >>> [round(p, 3) for p in holm([0.01, 0.04, float("nan"), 0.03])]
        [0.03, 0.06, nan, 0.06]

    Reference: Holm 1979, A simple sequentially rejective multiple test procedure.
    """
    given = np.asarray(p_values, dtype=np.float64)
    outside = (given < 0) | (given > 1)
    if outside.any():
        raise InputError(f"`p_values` must lie between 0 and 1, got {given[outside][0]:g}.")
    corrected = np.full(len(given), np.nan)
    tested = np.flatnonzero(~np.isnan(given))
    ascending = tested[np.argsort(given[tested], kind="stable")]
    multiplied = given[ascending] * np.arange(len(tested), 0, -1)
    corrected[ascending] = np.minimum(np.maximum.accumulate(multiplied), 1.0)
    return [float(p) for p in corrected]


def cohen_dz(differences: Differences) -> float:
    """Cohen's d for pairs: the mean difference in standard deviations of the differences.

    Args:
        differences: One per pair of runs.

    Returns:
        NaN for fewer than two pairs; 0 where all differences are zero; plus or minus infinity where all are the same
        and not zero.

    Example:
        >>> round(cohen_dz(np.array([1.0, 2.0, 3.0])), 3)
        2.0
    """
    _check(differences)
    if len(differences) < 2:
        return np.nan
    mean, deviation = differences.mean(), _spread(differences)
    if deviation == 0:
        return float(np.sign(mean) * np.inf) if mean else 0.0
    return float(mean / deviation)


def rank_biserial(differences: Differences) -> float:
    """The matched-pairs rank-biserial correlation: the share of ranks that speak for, less the share against.

    Range -1 (every difference is negative) to 1 (every difference is positive). Ranks are those of Wilcoxon's test.

    Args:
        differences: One per pair of runs.

    Returns:
        NaN where there is no pair; 0 where all differences are zero.

    Example:
        >>> rank_biserial(np.array([0.1, 0.3, 0.2, -0.4]))
        0.2

    Reference: Kerby 2014, The simple difference formula.
    """
    _check(differences)
    if not len(differences):
        return np.nan
    changed = _without_zeros(differences)
    if not len(changed):
        return 0.0
    stats = require("scipy.stats", extra="report", purpose="An effect size")
    ranks = stats.rankdata(np.abs(changed))
    return float((np.sign(changed) * ranks).sum() / ranks.sum())


def _exact_p(ranks: npt.NDArray[np.int64], smaller: int) -> float:
    """Twice the share of all choices of signs whose sum of ranks is as small as the one found.

    Counts the choices by their sum, rank by rank. scipy is exact without ties; with them it lists every choice, which
    takes a second for a dozen pairs. The ranks come doubled, so that those of ties are whole numbers.
    """
    counts = np.ones(1)
    for rank in ranks:
        counts = np.pad(counts, (0, rank)) + np.pad(counts, (rank, 0))
    return min(1.0, float(2 * counts[: smaller + 1].sum() / counts.sum()))


def _without_zeros(differences: Differences) -> Differences:
    """The differences that are not zero, in units of the largest, so that rounding cannot break a tie."""
    largest = np.abs(differences).max()
    if largest == 0:
        return differences[:0]
    rounded: Differences = np.round(differences / largest, _SAME)
    changed: Differences = rounded[rounded != 0]
    return changed


def _spread(differences: Differences) -> float:
    """The standard deviation; zero where the differences are the same but for rounding."""
    deviation = float(differences.std(ddof=1))
    return deviation if deviation > 10**-_SAME * np.abs(differences).max() else 0.0


def _check(differences: Differences) -> None:
    if not isinstance(differences, np.ndarray) or differences.ndim != 1:
        raise InputError(f"`differences` must be a flat array, one per pair, got {np.shape(differences)}.")
    bad = int((~np.isfinite(differences)).sum())
    if bad:
        raise NotFiniteError(f"`differences` must be finite, got {bad} that are not: leave those pairs out.")
