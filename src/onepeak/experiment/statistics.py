"""Significance tests and effect sizes for the difference between two methods, on paired runs.

Every function takes one difference per pair (method minus other, on the same split and fold) and states what it returns
for degenerate input; none of them warns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak._core.check import check_number
from onepeak._core.imports import Frame, require
from onepeak._core.registry import unknown_name
from onepeak.errors import InputError, NotFiniteError

Differences: TypeAlias = npt.NDArray[np.float64]

_SAME = 9
"""Differences that agree to this many digits, relative to the largest, count as equal: an MAE is a multiple of one over
the number of samples, so differences often tie up to rounding."""

_MOST_EXACT = 50
"""The most differences for an exact Wilcoxon test, as in scipy."""


@dataclass(frozen=True, kw_only=True)
class WilcoxonResult:
    """The result of the signed-rank test."""

    statistic: float
    """The smaller of the two rank sums; NaN if no difference is left."""
    p_value: float
    num_zero: int
    """Pairs with a zero difference, which the test leaves out."""


def corrected_t_test(differences: Differences, *, test_train_ratio: float) -> float:
    r"""Two-sided p-value of the corrected resampled t-test: is the mean difference zero?

    Runs on splits of one data set share training samples, so their differences vary less than independent ones would,
    and the plain paired t-test is too optimistic. The correction increases the variance of the mean:

    .. math:: t = \frac{\bar d}{\sqrt{\left(\frac{1}{n} + \frac{n_{test}}{n_{train}}\right) s^2}}, \quad n - 1
        \text{ degrees of freedom}

    It assumes test parts that are drawn anew each time. Folds that share one test part are more alike than that:
    several splits are more informative than several folds of one.

    Args:
        differences: One per pair of runs.
        test_train_ratio: Number of test samples divided by number of training samples.

    Returns:
        The p-value; NaN for fewer than two pairs, and 1 if all differences are zero. If all are equal and not zero,
        there is no spread to estimate: then the p-value of the exact sign test, :math:`2^{1-n}`, which is 1/2 for two
        pairs.

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
    """Wilcoxon's signed-rank test, two-sided: are the differences symmetric around zero?

    Zero differences are left out (and counted). Exact up to 50 differences, with or without ties; beyond that the
    normal approximation, corrected for ties.

    Returns:
        The result, with a p-value of 1 if all differences are zero, and NaN if there is no pair. Five pairs cannot
        reach .05: the smallest p-value of n pairs is 2 / 2^n.

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
    """Holm's correction of several p-values, which bounds the chance of even one false finding by the level.

    The smallest is multiplied by their number, the next by one less, and so on. Corrected values keep the order of the
    original ones and are capped at 1. A NaN stands for no test: it stays NaN and is not counted.

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
    """Cohen's d for pairs: the mean difference divided by the standard deviation of the differences.

    Returns:
        NaN for fewer than two pairs; 0 if all differences are zero; plus or minus infinity if all are equal and not
        zero.

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
    """The matched-pairs rank-biserial correlation: the share of positive ranks minus the share of negative ranks.

    Range -1 (every difference is negative) to 1 (every difference is positive). Ranks are those of Wilcoxon's test.

    Returns:
        NaN if there is no pair; 0 if all differences are zero.

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
    """Twice the share of all sign assignments whose rank sum is at most the observed one.

    Counts the assignments by their sum, rank by rank. scipy is exact without ties; with ties it enumerates all
    assignments, which takes a second for a dozen pairs. The ranks are doubled, so that tied ranks are integers.
    """
    counts = np.ones(1)
    for rank in ranks:
        counts = np.pad(counts, (0, rank)) + np.pad(counts, (rank, 0))
    return min(1.0, float(2 * counts[: smaller + 1].sum() / counts.sum()))


def _without_zeros(differences: Differences) -> Differences:
    """The nonzero differences, in units of the largest and rounded, so that rounding errors cannot break a tie."""
    largest = np.abs(differences).max()
    if largest == 0:
        return differences[:0]
    rounded: Differences = np.round(differences / largest, _SAME)
    changed: Differences = rounded[rounded != 0]
    return changed


def _spread(differences: Differences) -> float:
    """The standard deviation; zero if the differences are equal up to rounding."""
    deviation = float(differences.std(ddof=1))
    return deviation if deviation > 10**-_SAME * np.abs(differences).max() else 0.0


def _check(differences: Differences) -> None:
    if not isinstance(differences, np.ndarray) or differences.ndim != 1:
        raise InputError(f"`differences` must be a flat array, one per pair, got {np.shape(differences)}.")
    bad = int((~np.isfinite(differences)).sum())
    if bad:
        raise NotFiniteError(f"`differences` must be finite, got {bad} that are not: leave those pairs out.")


@dataclass(frozen=True, kw_only=True)
class RankComparison:
    """Mean ranks of methods over data sets; rank 1 is best."""

    methods: tuple[str, ...]
    """Best mean rank first."""
    mean_ranks: tuple[float, ...]
    num_datasets: int
    chi_square: float
    """Friedman's statistic, corrected for ties; NaN for two methods, 0 if all are tied everywhere."""
    p_value: float
    """Of the Friedman test in Iman and Davenport's form, which tests whether all methods are equal; NaN for two."""
    alpha: float
    critical_difference: float
    """Nemenyi: two methods whose mean ranks differ by less are not significantly different at level alpha."""

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The maximal sets of two or more methods that do not differ significantly, best first; sets may overlap."""
        found: list[tuple[int, int]] = []
        for first, rank in enumerate(self.mean_ranks):
            last = max(i for i, other in enumerate(self.mean_ranks) if other - rank < self.critical_difference)
            inside_the_one_before = bool(found) and last <= found[-1][1]
            if last > first and not inside_the_one_before:
                found.append((first, last))
        return tuple(self.methods[first : last + 1] for first, last in found)


def compare_ranks(
    values: npt.NDArray[np.float64],
    methods: tuple[str, ...],
    *,
    higher_is_better: bool,
    alpha: float = 0.05,
) -> RankComparison:
    r"""Ranks methods on every data set and compares their mean ranks: Friedman's test, then Nemenyi's.

    .. math:: CD = q_\alpha \sqrt{\frac{k (k + 1)}{6 N}}

    for k methods on N data sets, where q is the quantile of the studentised range divided by the square root of two.

    Args:
        values: One value per data set (rows) and method (columns), such as the mean MAE.
        methods: The names of the columns.
        higher_is_better: Whether the highest value has rank 1; ties share the mean of their ranks.
        alpha: The level of the critical difference.

    Example:
        >>> found = compare_ranks(np.array([[1.0, 2, 3], [1, 3, 2]]), ("a", "b", "c"), higher_is_better=False)
        >>> found.methods, found.mean_ranks
        (('a', 'b', 'c'), (1.0, 2.5, 2.5))
        >>> found.groups
        (('a', 'b', 'c'),)

    Reference: Demsar 2006, Statistical comparisons of classifiers over multiple data sets, section 3.2.
    """
    check_number("alpha", alpha, above=0.0, below=1.0)
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(methods) or len(methods) < 2 or len(values) < 2:
        raise InputError(
            "`values` must have one row per data set and one column per method, two or more of each, "
            f"got shape {values.shape} for {len(methods)} methods."
        )
    if not np.isfinite(values).all():
        raise NotFiniteError("`values` must be finite: leave out methods that lack a value for a data set.")
    stats = require("scipy.stats", extra="report", purpose="A comparison of ranks")
    num_datasets, k = values.shape
    mean_ranks = stats.rankdata(-values if higher_is_better else values, axis=1).mean(axis=0)
    best_first = np.argsort(mean_ranks, kind="stable")
    chi_square, p_value = _friedman(values)
    q = stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
    return RankComparison(
        methods=tuple(methods[i] for i in best_first),
        mean_ranks=tuple(float(mean_ranks[i]) for i in best_first),
        num_datasets=num_datasets,
        chi_square=chi_square,
        p_value=p_value,
        alpha=alpha,
        critical_difference=float(q * np.sqrt(k * (k + 1) / (6 * num_datasets))),
    )


def _friedman(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Friedman's statistic, and the p-value of Iman and Davenport's less conservative F statistic."""
    num_datasets, k = values.shape
    if k < 3:
        return np.nan, np.nan
    if (values == values[:, :1]).all():
        return 0.0, 1.0
    stats = require("scipy.stats", extra="report", purpose="A comparison of ranks")
    chi_square = float(stats.friedmanchisquare(*values.T).statistic)
    most = num_datasets * (k - 1)
    if np.isclose(chi_square, most):  # same order on all data sets: F is infinite
        return chi_square, 0.0
    f = (num_datasets - 1) * chi_square / (most - chi_square)
    return chi_square, float(stats.f.sf(f, k - 1, (k - 1) * (num_datasets - 1)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """Two methods on the splits and folds that both have run."""

    differences: npt.NDArray[np.float64]
    """The first method's value minus the second's, one per pair."""
    test_train_ratio: float
    """Test samples divided by training samples, averaged over the pairs; NaN without pairs."""


def paired(results: Frame, column: str, first: str, second: str) -> Pairs:
    """Returns the differences between two methods' runs on one data set, given the labels of both.

    A split and fold that one of the two has not run, or whose value is not defined, is left out.

    Example:
        >>> import pandas as pd
        >>> runs = pd.DataFrame({"label": ["elb", "elb", "ce", "ce"], "split": [0, 1, 0, 1], "fold": 0})
        >>> runs = runs.assign(test_mae=[0.5, 0.75, 1.0, 1.0], num_test=20, num_train=60)
        >>> paired(runs, "test_mae", "elb", "ce").differences
        array([-0.5 , -0.25])
    """
    for label in (first, second):
        if label not in set(results["label"]):
            raise unknown_name("row of `results`", label, dict.fromkeys(results["label"]))
    return pairs_there_are(results, column, first, second)


def pairs_there_are(results: Frame, column: str, first: str, second: str) -> Pairs:
    """The same; empty if a method has no run."""
    one, other = _by_split(results, column, first), _by_split(results, column, second)
    shared = sorted(one.keys() & other.keys())
    ratios = [one[key][1] for key in shared]
    return Pairs(
        differences=np.array([one[key][0] - other[key][0] for key in shared], dtype=np.float64),
        test_train_ratio=float(np.mean(ratios)) if ratios else np.nan,
    )


def _by_split(results: Frame, column: str, label: str) -> dict[tuple[int, int], tuple[float, float]]:
    """The defined values of one method with the ratio of test to training samples, by split and fold."""
    own = (results["label"] == label).to_numpy()
    names = ("split", "fold", column, "num_test", "num_train")
    columns = [results[name].to_numpy()[own].tolist() for name in names]
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for split, fold, value, num_test, num_train in zip(*columns, strict=True):
        if (split, fold) in found:
            raise InputError(f"`results` must have one run of {label!r} on split {split}, fold {fold}, got more.")
        found[split, fold] = value, num_test / num_train
    return {key: figure for key, figure in found.items() if not np.isnan(figure[0])}
