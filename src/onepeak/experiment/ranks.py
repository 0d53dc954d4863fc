"""Compares several methods over several data sets: mean ranks, and which methods differ (Demsar 2006)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak._check import check_number
from onepeak._extras import require
from onepeak.errors import InputError, NotFiniteError


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
