import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from onepeak.errors import InputError, UnknownNameError
from onepeak.experiment.results import read_results
from onepeak.experiment.statistics import (
    RankComparison,
    cohen_dz,
    compare_ranks,
    corrected_t_test,
    holm,
    paired,
    rank_biserial,
    wilcoxon,
)
from run_folders import write_comparison, write_run

# sixteenths are exact in binary, so that what ties in arithmetic ties in the computer
differences_of = st.lists(st.integers(-64, 64).map(lambda k: k / 16), min_size=2, max_size=12).map(np.array)


def test_the_corrected_t_test_has_the_value_worked_by_hand():
    # mean 0.25; variance ((-.15)^2 + .05^2 + (-.05)^2 + .15^2) / 3 = .05 / 3
    # t = .25 / sqrt((1/4 + 1/4) * .05 / 3) = 2.738613, with 3 degrees of freedom
    # p = 2 P(T > t); for 3 degrees F(t) = 1/2 + (atan(x) + x / (1 + x^2)) / pi, x = t / sqrt(3)
    x = 0.25 / math.sqrt(0.5 * 0.05 / 3) / math.sqrt(3)
    by_hand = 1 - 2 * (math.atan(x) + x / (1 + x * x)) / math.pi
    assert corrected_t_test(np.array([0.1, 0.3, 0.2, 0.4]), test_train_ratio=0.25) == pytest.approx(by_hand, rel=1e-9)


@given(differences_of, st.floats(0.01, 2.0))
def test_the_corrected_t_test_is_scipys_with_a_wider_error(differences, ratio):
    n = len(differences)
    if differences.std() == 0:
        return
    plain = stats.ttest_1samp(differences, 0.0)
    t = plain.statistic / math.sqrt(1 + n * ratio)
    assert corrected_t_test(differences, test_train_ratio=ratio) == pytest.approx(2 * stats.t.sf(abs(t), n - 1))
    assert corrected_t_test(differences, test_train_ratio=ratio) >= plain.pvalue - 1e-12


def test_rounding_does_not_break_ties():
    # 8/191 - 5/191 and 10/191 - 7/191 differ in the last bit; both are three samples' worth
    noisy = np.array([8 / 191 - 5 / 191, 10 / 191 - 7 / 191, 100 / 191 - 97 / 191, 0.1 + 0.2 - 0.3, -1 / 191])
    assert len(set(noisy[:3])) > 1
    clean = np.array([3.0, 3.0, 3.0, 0.0, -1.0])
    assert wilcoxon(noisy) == wilcoxon(clean)
    assert rank_biserial(noisy) == rank_biserial(clean)


@given(st.integers(0, 3), st.integers(1, 60).flatmap(lambda n: st.permutations(range(1, n + 1))), st.randoms())
def test_without_ties_wilcoxon_is_scipys(num_zero, sizes, random):
    changed = np.array([random.choice((-1.0, 1.0)) * size for size in sizes])
    oracle = stats.wilcoxon(changed)  # exact up to 50, the normal approximation above
    found = wilcoxon(np.append(changed, np.zeros(num_zero)))
    assert found.num_zero == num_zero
    assert (found.statistic, found.p_value) == (oracle.statistic, pytest.approx(oracle.pvalue))


@given(st.lists(st.sampled_from([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]), min_size=1, max_size=9).map(np.array))
def test_with_ties_wilcoxon_is_the_share_of_all_choices_of_signs(differences):
    ranks = stats.rankdata(np.abs(differences))
    signs = np.array(list(itertools.product([0, 1], repeat=len(ranks))))
    observed = min(ranks[differences > 0].sum(), ranks[differences < 0].sum())
    share = np.mean(signs @ ranks <= observed)
    assert wilcoxon(differences).p_value == pytest.approx(min(1.0, 2 * share))


@pytest.mark.parametrize(
    "p_values", [[0.3], [0.01, 0.01, 0.01], [0.9, 0.0, 0.04, 0.01, 1.0, 0.02], [0.2, 0.05, 0.012, 0.011, 0.2]]
)  # a handful: statsmodels collects the garbage of the whole process in every call
def test_holm_is_that_of_statsmodels(p_values):
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


@given(st.lists(st.integers(0, 1000).map(lambda k: k / 1000), min_size=1, max_size=8))
def test_holm_rejects_step_by_step(p_values):
    """The definition: going up, reject while p_(i) <= level / (m - i); the corrected value is the level at the turn."""
    corrected = holm(p_values)
    for level in (0.01, 0.05, 0.2):
        rejected = set()
        for step, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
            if p_values[index] * (len(p_values) - step) > level:
                break
            rejected.add(index)
        assert {i for i, p in enumerate(corrected) if p <= level} == rejected


def test_holm_does_not_count_what_was_not_tested():
    assert holm([math.nan, 0.02, 0.03]) == pytest.approx([math.nan, 0.04, 0.04], nan_ok=True)
    assert holm([]) == []


@given(differences_of)
def test_cohens_d_is_the_paired_t_over_the_root_of_n(differences):
    if differences.std() > 0:
        t = stats.ttest_1samp(differences, 0.0).statistic
        assert cohen_dz(differences) == pytest.approx(t / math.sqrt(len(differences)))


@given(differences_of)
def test_the_rank_biserial_correlation_follows_from_wilcoxons_sums(differences):
    n = np.count_nonzero(differences)
    if n:
        smaller = stats.wilcoxon(differences, method="exact").statistic
        assert abs(rank_biserial(differences)) == pytest.approx(1 - 2 * smaller / (n * (n + 1) / 2))


@given(differences_of, st.randoms())
def test_the_order_of_runs_does_not_matter(differences, random):
    shuffled = differences.copy()
    random.shuffle(shuffled)
    assert corrected_t_test(shuffled, test_train_ratio=0.3) == pytest.approx(
        corrected_t_test(differences, test_train_ratio=0.3)
    )
    assert wilcoxon(shuffled) == wilcoxon(differences)
    assert cohen_dz(shuffled) == pytest.approx(cohen_dz(differences))
    assert rank_biserial(shuffled) == pytest.approx(rank_biserial(differences))


@given(differences_of)
def test_swapping_the_methods_flips_the_effects_and_keeps_the_p_values(differences):
    assert corrected_t_test(-differences, test_train_ratio=0.3) == corrected_t_test(differences, test_train_ratio=0.3)
    assert wilcoxon(-differences) == wilcoxon(differences)
    assert cohen_dz(-differences) == -cohen_dz(differences)
    assert rank_biserial(-differences) == -rank_biserial(differences)


@given(differences_of, st.sampled_from([1e-8, 0.01, 100.0]))
def test_the_unit_of_the_metric_does_not_matter(differences, unit):
    assert corrected_t_test(unit * differences, test_train_ratio=0.3) == pytest.approx(
        corrected_t_test(differences, test_train_ratio=0.3)
    )
    assert wilcoxon(unit * differences) == wilcoxon(differences)


@pytest.mark.parametrize("differences", [np.array([]), np.array([0.3])], ids=["no pair", "one pair"])
def test_fewer_than_two_pairs_say_nothing_of_the_mean_and_none_at_all_nothing_of_ranks(differences):
    assert math.isnan(corrected_t_test(differences, test_train_ratio=0.25))
    assert math.isnan(cohen_dz(differences))
    assert math.isnan(wilcoxon(np.array([])).p_value)
    assert math.isnan(rank_biserial(np.array([])))


def test_no_difference_at_all_is_no_evidence():
    zeros = np.zeros(4)
    assert corrected_t_test(zeros, test_train_ratio=0.25) == 1.0
    found = wilcoxon(zeros)
    assert (found.p_value, found.num_zero, math.isnan(found.statistic)) == (1.0, 4, True)
    assert cohen_dz(zeros) == 0.0
    assert rank_biserial(zeros) == 0.0


@pytest.mark.parametrize("n", [2, 3, 10, 2000])
def test_the_same_difference_every_time_is_as_sure_as_its_sign_and_a_boundless_effect(n):
    same = np.resize([0.3, 0.1 + 0.2], n)  # not the same in the last bit
    expected = stats.binomtest(n, n).pvalue
    assert corrected_t_test(same, test_train_ratio=0.25) == pytest.approx(expected)
    assert corrected_t_test(-same, test_train_ratio=0.25) == pytest.approx(expected)
    assert (cohen_dz(same), cohen_dz(-same)) == (math.inf, -math.inf)


@pytest.mark.bad_input
@pytest.mark.parametrize("function", [wilcoxon, cohen_dz, rank_biserial])
def test_differences_must_be_flat_and_finite(function):
    with pytest.raises(InputError, match=r"`differences` must be a flat array, one per pair, got \(2, 2\)"):
        function(np.zeros((2, 2)))
    with pytest.raises(InputError, match="`differences` must be finite, got 1 that are not: leave those pairs out"):
        function(np.array([0.1, math.nan]))


@pytest.mark.bad_input
def test_a_ratio_or_a_p_value_that_cannot_be_is_refused():
    with pytest.raises(InputError, match=r"`test_train_ratio` must be a finite number > 0, got 0.0"):
        corrected_t_test(np.array([0.1, 0.2]), test_train_ratio=0.0)
    with pytest.raises(InputError, match=r"`p_values` must lie between 0 and 1, got 1.5"):
        holm([0.2, 1.5])


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


def test_ties_everywhere_tell_nothing_the_same_order_everywhere_is_certain_and_two_have_no_friedman_test():
    found = compare_ranks(np.ones((4, 3)), ("x", "y", "z"), higher_is_better=True)
    assert (found.chi_square, found.p_value) == (0.0, 1.0)
    assert found.groups == (("x", "y", "z"),)
    assert compare_ranks(np.tile([3.0, 1.0, 2.0], (5, 1)), ("x", "y", "z"), higher_is_better=True).p_value == 0.0
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


def test_runs_are_paired_by_split_and_fold(tmp_path):
    for fold, (ce, elb) in enumerate([(0.75, 0.5), (1.0, 0.5)]):
        write_run(tmp_path, method="ce", split=1, fold=fold, mae=ce)
        write_run(tmp_path, method="elb", split=1, fold=1 - fold, mae=elb + fold)
    # fold 0: .75 against 1.5; fold 1: 1.0 against .5
    assert paired(read_results(tmp_path), "test_mae", "ce", "elb").differences.tolist() == [-0.75, 0.5]


def test_a_run_that_one_method_lacks_or_whose_figure_is_not_defined_is_left_out(tmp_path):
    write_comparison(tmp_path, {"elb": [0.25, None, 0.5, 0.25]})
    for split, (mae, sizes) in enumerate(
        [(0.5, (50, 10, 25)), (0.75, (1, 1, 98)), (None, (1, 1, 98)), (1.0, (40, 10, 10))]
    ):
        write_run(tmp_path, method="ce", split=split, mae=mae, sizes=sizes)
    write_run(tmp_path, method="po", split=1)
    results = read_results(tmp_path)
    found = paired(results, "test_mae", "ce", "elb")
    assert found.differences.tolist() == [0.25, 0.75]
    assert found.test_train_ratio == pytest.approx((0.5 + 0.25) / 2)
    none = paired(results, "test_mae", "po", "elb")
    assert (len(none.differences), math.isnan(none.test_train_ratio)) == (0, True)


@pytest.mark.bad_input
def test_two_runs_of_one_split_and_fold_are_refused(tmp_path):
    write_comparison(tmp_path, {"ce": [0.5], "elb": [0.25]})
    write_run(tmp_path, method="ce", split=0, label="again")
    results = read_results(tmp_path).replace({"label": {"again": "ce"}})
    with pytest.raises(InputError, match="must have one run of 'ce' on split 0, fold 0, got more"):
        paired(results, "test_mae", "ce", "elb")


def test_a_row_that_is_not_there_is_named():
    runs = pd.DataFrame({"label": ["ce", "elb"], "split": 0, "fold": 0, "test_mae": 1.0, "num_test": 2, "num_train": 6})
    with pytest.raises(UnknownNameError, match=r"Unknown row of `results` 'cee'\. Did you mean 'ce'"):
        paired(runs, "test_mae", "elb", "cee")
