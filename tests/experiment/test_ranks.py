import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from onepeak.errors import InputError
from onepeak.experiment.ranks import RankComparison, compare_ranks

NAMES = tuple("abcdefghij")
figures = st.integers(3, 5).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 20).map(float), min_size=k, max_size=k), min_size=2, max_size=8)
).map(np.array)  # fmt: skip


def ranked(*mean_ranks, critical_difference):
    return RankComparison(
        methods=NAMES[: len(mean_ranks)],
        mean_ranks=mean_ranks,
        num_datasets=5,
        chi_square=1.0,
        p_value=0.5,
        alpha=0.05,
        critical_difference=critical_difference,
    )


def test_ranks_statistic_and_critical_difference_have_the_values_worked_by_hand():
    # ranks of the rows: 1 2 3, 1 3 2, 1 2 3, 2 1 3; means 5/4, 8/4, 11/4
    found = compare_ranks(
        np.array([[0.1, 0.2, 0.3], [0.1, 0.5, 0.4], [1, 2, 3], [2, 1, 3]]), ("x", "y", "z"), higher_is_better=False
    )
    assert found.methods == ("x", "y", "z")
    assert found.mean_ranks == (1.25, 2.0, 2.75)
    # 12 N / (k (k + 1)) (sum of squares - k (k + 1)^2 / 4) = 12 * 4 / 12 * (1.5625 + 4 + 7.5625 - 12) = 4.5
    assert found.chi_square == pytest.approx(4.5)
    # Iman and Davenport: F = 3 * 4.5 / (4 * 2 - 4.5) = 27 / 7, with 2 and 6 degrees of freedom,
    # for which P(F > f) = (1 + 2 f / 6)^(-6/2)
    assert found.p_value == pytest.approx((1 + 27 / 7 / 3) ** -3)
    # q of three methods is 2.343 (Demsar 2006, table 5): 2.343 * sqrt(3 * 4 / (6 * 4))
    assert found.critical_difference == pytest.approx(2.343 * math.sqrt(0.5), rel=3e-4)


def test_the_example_of_demsar_has_its_critical_difference():
    # four classifiers on fourteen data sets: 2.569 * sqrt(4 * 5 / (6 * 14)) = 1.25, and 1.12 at the level of .10
    values = np.arange(56.0).reshape(14, 4)
    assert compare_ranks(values, NAMES[:4], higher_is_better=True).critical_difference == pytest.approx(1.25, abs=0.005)
    loose = compare_ranks(values, NAMES[:4], higher_is_better=True, alpha=0.1)
    assert loose.critical_difference == pytest.approx(1.12, abs=0.005)


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_the_critical_values_are_those_of_the_printed_table(k, q):
    found = compare_ranks(np.zeros((6, k)), NAMES[:k], higher_is_better=True)
    assert found.critical_difference / math.sqrt(k * (k + 1) / 36) == pytest.approx(q, abs=6e-4)


@given(figures)
def test_the_statistic_is_scipys_and_the_ranks_add_up(values):
    k = values.shape[1]
    found = compare_ranks(values, NAMES[:k], higher_is_better=False)
    assert sum(found.mean_ranks) == pytest.approx(k * (k + 1) / 2)
    assert list(found.mean_ranks) == sorted(found.mean_ranks)
    assert 0 <= found.p_value <= 1
    if not (values == values[:, :1]).all():
        assert found.chi_square == pytest.approx(stats.friedmanchisquare(*values.T).statistic)


@given(figures, st.randoms())
def test_the_order_of_data_sets_and_the_direction_of_the_metric_do_not_matter(values, random):
    names = NAMES[: values.shape[1]]
    rows = list(range(len(values)))
    random.shuffle(rows)
    found = compare_ranks(values, names, higher_is_better=False)
    other = compare_ranks(-values[rows], names, higher_is_better=True)
    assert other.mean_ranks == pytest.approx(found.mean_ranks)
    assert other.p_value == pytest.approx(found.p_value)


def test_methods_that_are_tied_everywhere_are_not_told_apart():
    found = compare_ranks(np.ones((4, 3)), ("x", "y", "z"), higher_is_better=True)
    assert (found.chi_square, found.p_value) == (0.0, 1.0)
    assert found.groups == (("x", "y", "z"),)


def test_the_same_order_everywhere_is_certain():
    assert compare_ranks(np.tile([3.0, 1.0, 2.0], (5, 1)), ("x", "y", "z"), higher_is_better=True).p_value == 0.0


def test_two_methods_have_ranks_and_no_friedman_test():
    found = compare_ranks(np.array([[1.0, 2.0], [1.0, 2.0]]), ("x", "y"), higher_is_better=True)
    assert found.methods == ("y", "x")
    assert math.isnan(found.chi_square)
    assert math.isnan(found.p_value)


def test_groups_are_the_largest_sets_within_the_critical_difference():
    assert ranked(1.0, 1.5, 2.4, 4.0, 6.0, critical_difference=1.0).groups == (("a", "b"), ("b", "c"))
    assert ranked(1.0, 1.5, 1.9, 4.0, critical_difference=1.0).groups == (("a", "b", "c"),)
    assert ranked(1.0, 2.5, 4.0, critical_difference=1.0).groups == ()


@pytest.mark.bad_input
def test_bad_tables_are_refused():
    with pytest.raises(InputError, match=r"two or more of each, got shape \(1, 2\) for 2 methods"):
        compare_ranks(np.ones((1, 2)), ("x", "y"), higher_is_better=True)
    with pytest.raises(InputError, match=r"got shape \(2, 2\) for 3 methods"):
        compare_ranks(np.ones((2, 2)), ("x", "y", "z"), higher_is_better=True)
    with pytest.raises(InputError, match="`values` must be finite: leave out methods that lack a value"):
        compare_ranks(np.array([[1.0, 2.0], [math.nan, 1.0]]), ("x", "y"), higher_is_better=True)
    with pytest.raises(InputError, match=r"`alpha` must be a finite number > 0 and < 1, got 1.5"):
        compare_ranks(np.ones((2, 2)), ("x", "y"), higher_is_better=True, alpha=1.5)
