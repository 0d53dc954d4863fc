import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from onepeak.errors import InputError, UnknownNameError
from onepeak.experiment.results import read_results
from onepeak.metrics.catalog import METRICS
from onepeak.report.summary import COLUMNS, TABLE_METRICS, check_rows, planned_comparison, summary
from run_folders import write_comparison, write_run

FIGURES = {"ce": [1.0, 1.5, 1.25, 1.25], "mv": [0.75, 1.0, 1.5, 0.75], "elb": [0.5, 0.75, 0.5, 0.25]}

INCOMPLETE = {"ce": [1.4, 1.6, 1.5], "elb": [1.0, 1.1, 0.9, 5.0, 5.1, 4.9], "mv": [9.0, 9.1, 8.9, 9.0]}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return read_results(write_comparison(tmp_path_factory.mktemp("runs"), FIGURES))


def of(table, method, metric="mae"):
    [row] = table[(table["method"] == method) & (table["metric"] == metric)].to_dict("records")
    return row


def test_means_and_deviations_have_the_values_worked_by_hand(results):
    row = of(summary(results), "ce")
    # mean 5 / 4; deviations -.25, .25, 0, 0: variance .125 / 3
    assert (row["mean"], row["n"]) == (1.25, 4)
    assert row["std"] == pytest.approx(math.sqrt(0.125 / 3))


def test_the_difference_to_the_best_is_tested_and_corrected_by_hand(results):
    # elb is best; the ratio of test to train is 20 / 60, so the error of a mean is s sqrt(1/4 + 1/3)
    # ce - elb: .5, .75, .75, 1.0: mean .75, s = sqrt(.125 / 3)
    # mv - elb: .25, .25, 1.0, .5: mean .5,  s = sqrt((.0625 + .0625 + .25 + 0) / 3) = sqrt(.375 / 3)
    table = summary(results)
    t = {
        "ce": 0.75 / math.sqrt(0.125 / 3 * (1 / 4 + 1 / 3)),
        "mv": 0.5 / math.sqrt(0.375 / 3 * (1 / 4 + 1 / 3)),
    }
    p = {name: 2 * stats.t.sf(value, 3) for name, value in t.items()}
    assert p["ce"] < p["mv"]  # so that Holm doubles that of ce and leaves that of mv, which is larger even so
    assert 2 * p["ce"] < p["mv"]
    assert of(table, "ce")["p_value"] == pytest.approx(2 * p["ce"])
    assert of(table, "mv")["p_value"] == pytest.approx(p["mv"])
    assert (of(table, "ce")["difference"], of(table, "mv")["difference"]) == (0.75, 0.5)
    # all four differences positive: 2 / 2^4 for both; Holm doubles the first and lifts the second to it
    assert of(table, "ce")["p_wilcoxon"] == of(table, "mv")["p_wilcoxon"] == pytest.approx(0.25)
    assert of(table, "ce")["effect"] == pytest.approx(0.75 / math.sqrt(0.125 / 3))
    assert of(table, "ce")["rank_biserial"] == 1.0
    best = of(table, "elb")
    assert (best["best"], best["difference"], best["n_pairs"], of(table, "mv")["best"]) == (True, 0.0, 4, False)
    assert all(math.isnan(best[name]) for name in ("p_value", "p_wilcoxon", "effect", "rank_biserial"))


def test_a_row_of_ones_choice_takes_the_place_of_the_best_in_every_test(results):
    # elb - ce: -.5, -.75, -.75, -1: mean -.75, s = sqrt(.125 / 3); mv - ce: -.25, -.5, .25, -.5: mean -.25,
    # s = sqrt((0 + .0625 + .25 + .0625) / 3) = sqrt(.375 / 3); the error of a mean is s sqrt(1/4 + 1/3)
    table = summary(results, against="ce")
    t = [0.75 / math.sqrt(0.125 / 3 * (1 / 4 + 1 / 3)), 0.25 / math.sqrt(0.375 / 3 * (1 / 4 + 1 / 3))]
    p_elb, p_mv = (2 * stats.t.sf(value, 3) for value in t)
    assert (of(table, "elb")["difference"], of(table, "mv")["difference"]) == (-0.75, -0.25)
    assert of(table, "elb")["p_value"] == pytest.approx(2 * p_elb)
    assert of(table, "mv")["p_value"] == pytest.approx(p_mv)
    assert of(table, "elb")["rank_biserial"] == -1.0
    assert (of(table, "ce")["difference"], math.isnan(of(table, "ce")["p_value"])) == (0.0, True)
    assert [of(table, name)["best"] for name in FIGURES] == [False, False, True]
    assert set(table["against"]) == {"ce"}
    assert set(summary(results)["against"]) == {None}


def test_the_best_is_the_highest_where_higher_is_better(tmp_path):
    table = summary(read_results(write_comparison(tmp_path, FIGURES, metric="soi_predicted")))
    assert [of(table, name, "soi_predicted")["best"] for name in FIGURES] == [True, False, False]
    assert of(table, "elb", "soi_predicted")["difference"] == -0.75


def test_the_best_is_so_on_the_splits_that_all_have(tmp_path):
    # elb is better by a half on every pair; its mean is worse, as it alone has run the hard splits
    table = summary(read_results(write_comparison(tmp_path, INCOMPLETE)), metrics=["mae"])
    ce, elb, mv = (of(table, name) for name in INCOMPLETE)
    assert (ce["mean"], elb["mean"]) == pytest.approx((1.5, 3.0))
    assert [row["best"] for row in (ce, elb, mv)] == [False, True, False]
    assert [row["n_pairs"] for row in (ce, elb, mv)] == [3, 3, 3]
    assert ce["difference"] == pytest.approx(0.5)
    assert mv["difference"] == pytest.approx(8.0)


def test_methods_that_share_no_split_are_not_compared(tmp_path):
    table = summary(read_results(write_comparison(tmp_path, {"ce": [1.0, None], "elb": [None, 2.0]})), metrics=["mae"])
    assert list(table["best"]) == [False, False]
    assert list(table["n_pairs"]) == [0, 0]
    assert table["p_value"].isna().all()


def test_one_run_has_no_deviation_and_no_test(tmp_path):
    table = summary(read_results(write_comparison(tmp_path, {"ce": [1.0], "elb": [0.5]})))
    row = of(table, "ce")
    assert (row["difference"], row["n_pairs"]) == (0.5, 1)
    assert all(math.isnan(row[name]) for name in ("std", "p_value", "effect"))
    assert row["p_wilcoxon"] == 1.0


def test_a_method_without_a_figure_is_not_compared(tmp_path):
    for method, tau in (("ce", None), ("elb", 0.5)):
        write_run(tmp_path, method=method, tau=tau, qwk=None)
    results = read_results(tmp_path)
    table = summary(results)
    assert of(table, "elb", "tau")["best"]
    assert (of(table, "ce", "tau")["n_pairs"], math.isnan(of(table, "ce", "tau")["p_wilcoxon"])) == (0, True)
    nowhere, against = of(table, "ce", "qwk"), of(summary(results, against="ce"), "elb", "tau")
    assert (nowhere["n"], nowhere["best"], math.isnan(nowhere["mean"])) == (0, False, True)
    assert (against["best"], against["n_pairs"], math.isnan(against["difference"])) == (True, 0, True)


def test_chance_is_known_for_the_side_order_index(results):
    table = summary(results)
    assert of(table, "ce", "soi_predicted")["chance"] == 0.75  # 1/2 + 1/4 for four classes
    assert of(table, "ce", "soi_true")["chance"] == 0.5
    assert of(table, "mv", "soi_predicted")["chance"] == pytest.approx(0.56, abs=0.01)  # of the mean
    assert math.isnan(of(table, "ce")["chance"])


def write_calibrated(root, figures, **changes):
    """Runs whose calibrated scores are these; None for one that has none."""
    for method, scores in figures.items():
        for split, score in enumerate(scores):
            calibration = {} if score is None else {"temperature": 2.0, "test": {"rps": score, "nll": 2 * score}}
            write_run(root, method=method, split=split, calibration=calibration, **changes)
    return root


def test_calibrated_scores_are_summed_up_and_tested_as_others_are(tmp_path):
    table = summary(read_results(write_calibrated(tmp_path / "c", FIGURES)))
    plain = summary(read_results(write_comparison(tmp_path / "p", FIGURES)))
    for method in FIGURES:
        row, same = of(table, method, "rps_calibrated"), of(plain, method, "mae")
        for name in ("mean", "std", "n", "best", "difference", "n_pairs", "p_value", "p_wilcoxon", "effect"):
            assert row[name] == pytest.approx(same[name], nan_ok=True)
        assert of(table, method, "nll_calibrated")["mean"] == 2 * row["mean"]
        assert of(table, method, "rps")["mean"] == 0.5
    metrics = list(dict.fromkeys(table["metric"]))
    assert metrics[metrics.index("rps") + 1] == "rps_calibrated"


def test_intervals_are_summed_up_and_only_their_size_is_a_contest(tmp_path):
    for split in range(3):
        for method, size in (("ce", 3.0 + split / 2), ("elb", 2.0 + split)):
            figures = {"alpha": 0.1, "coverage": 0.8 + split / 10, "interval_size": size}
            write_run(tmp_path, method=method, split=split, calibration={"temperature": 1.0, "test": figures})
    table = summary(read_results(tmp_path))
    coverage, size = (of(table, "elb", f"interval_{name}") for name in ("coverage", "size"))
    assert (coverage["mean"], coverage["n"], coverage["best"]) == (pytest.approx(0.9), 3, False)
    assert math.isnan(coverage["p_value"])
    assert math.isnan(coverage["difference"])
    assert (size["mean"], size["best"], of(table, "ce", "interval_size")["difference"]) == (3.0, True, 0.5)


def test_a_data_set_without_calibrated_scores_has_no_rows_of_them(tmp_path):
    write_calibrated(tmp_path / "new", {"ce": [0.5, None], "elb": [0.25, 0.25]}, dataset="new")
    write_run(tmp_path / "old", method="ce", dataset="old")
    table = summary(read_results(tmp_path / "new", tmp_path / "old"))
    calibrated = table[table["metric"] == "rps_calibrated"]
    assert list(zip(calibrated["dataset"], calibrated["method"], calibrated["n"], strict=True)) == [
        ("new", "ce", 1), ("new", "elb", 2),
    ]  # fmt: skip
    assert "rps_calibrated" not in set(summary(read_results(tmp_path / "old"))["metric"])


def test_the_papers_figures_stand_beside_both_variants(tmp_path):
    for label, variant in (("ld", "corrected"), ("ld-as_published", "as_published")):
        write_run(
            tmp_path,
            method="ld",
            label=label,
            dataset="fgnet",
            protocol="fgnet-code",
            variant=variant,
            mae=5.0,
            soi_predicted=0.75,
            epochs=1000,
        )
    write_run(tmp_path, method="elb", dataset="fgnet", protocol="fgnet-code", mae=4.0, epochs=1000)
    write_run(tmp_path, method="po", dataset="fgnet", mae=4.0)
    table = summary(read_results(tmp_path))
    corrected, published = of(table, "ld"), of(table, "ld-as_published")
    assert (corrected["paper_mean"], corrected["paper_std"]) == (18.25, 0.86)
    assert corrected["paper_difference"] == published["paper_difference"] == pytest.approx(-13.25)
    assert (corrected["paper_same"], published["paper_same"], of(table, "elb")["paper_same"]) == (False, True, True)
    assert of(table, "ld", "soi_predicted")["paper_difference"] == pytest.approx(0.75 - 0.516)
    assert math.isnan(of(table, "po")["paper_mean"])


@pytest.mark.parametrize(
    ("record", "same"),
    [
        ({"weights": "resnet18.safetensors"}, True),  # tests/experiment/test_published.py has what else counts
        ({"method_settings": {"t": 5.0}}, False),
        ({"precision": "bf16-mixed"}, False),
    ],
)
def test_what_a_run_records_of_itself_says_whether_it_is_behind_the_papers_figure(tmp_path, record, same):
    known = {"dataset": "fgnet", "protocol": "fgnet-authors", "epochs": 1000}
    write_run(tmp_path, method="elb", **{**known, **record})
    assert of(summary(read_results(tmp_path)), "elb")["paper_same"] == same


def test_every_data_set_and_folder_is_a_block_of_its_own(tmp_path):
    write_run(tmp_path / "one", method="ce", dataset="a", mae=1.0)
    write_run(tmp_path / "one", method="elb", dataset="b", mae=2.0)
    write_run(tmp_path / "two", method="ce", dataset="b", mae=3.0)
    table = summary(read_results(tmp_path / "one", tmp_path / "two"), metrics=["mae"])
    assert list(table["dataset"]) == ["a", f"b ({tmp_path / 'one'})", f"b ({tmp_path / 'two'})"]
    assert list(table["best"]) == [True, True, True]


def test_metrics_can_be_chosen(results):
    table = summary(results, metrics=["qwk", "mae"])
    assert list(table["metric"]) == ["qwk"] * 3 + ["mae"] * 3
    assert list(table.columns) == list(COLUMNS)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(), st.integers(-8, 8))
def test_order_of_runs_and_a_constant_change_no_difference(results, random, constant):
    shuffled = results.sample(frac=1.0, random_state=random.randrange(2**31))
    shuffled = shuffled.assign(test_mae=shuffled["test_mae"] + constant)
    before, after = (summary(each, metrics=["mae"]).set_index("method") for each in (results, shuffled))
    after = after.loc[before.index]
    for name in ("std", "difference", "p_value", "p_wilcoxon", "effect", "rank_biserial", "best"):
        np.testing.assert_allclose(after[name].astype(float), before[name].astype(float))
    np.testing.assert_allclose(after["mean"], before["mean"] + constant)


@pytest.mark.bad_input
def test_what_cannot_be_summarised_is_refused(results):
    with pytest.raises(InputError, match="`results` must hold at least one run, got none"):
        summary(results[:0])
    with pytest.raises(InputError, match=r"Unknown metric 'maee'\. Did you mean 'mae'\?"):
        summary(results, metrics=["maee"])
    with pytest.raises(InputError, match=r"`metrics` must be measured by the runs, got 'mae', which none has\."):
        summary(results.drop(columns="test_mae"), metrics=["mae"])


@pytest.mark.bad_input
def test_a_row_that_a_data_set_does_not_have_is_refused_with_those_it_has(results, tmp_path):
    message = r"Unknown row of mine for `against` 'ebl'\. Did you mean 'elb'\? Known: ce, mv, elb\."
    with pytest.raises(InputError, match=message):
        summary(results, against="ebl")
    write_run(tmp_path / "one", method="ce", dataset="a")
    write_run(tmp_path / "two", method="elb", dataset="b")
    with pytest.raises(InputError, match=r"Unknown row of b for .* 'ce'\..* Known: elb\."):
        summary(read_results(tmp_path / "one", tmp_path / "two"), against="ce")


def test_every_metric_can_be_in_a_table_and_calibrated_scores_and_intervals_too():
    names = [record.name for record in TABLE_METRICS]
    assert [name for name in names if name in METRICS] == [record.name for record in METRICS]
    assert [name for name in names if name not in METRICS] == [
        "rps_calibrated", "nll_calibrated", "interval_coverage", "interval_size",
    ]  # fmt: skip
    plain, calibrated = METRICS["rps"], TABLE_METRICS["rps_calibrated"]
    assert (calibrated.high, calibrated.higher_is_better) == (plain.high, plain.higher_is_better)
    assert calibrated.title == f"{plain.title}, calibrated"


@pytest.fixture
def pair(tmp_path):
    """The pair that is planned among rows of one run each, which are given with their error and order."""

    def call(rows, **named):
        for label, (mae, soi) in rows.items():
            write_run(tmp_path, method="mv", label=label, mae=mae, soi_predicted=soi)
        planned = planned_comparison(read_results(tmp_path), **named)
        return planned and (planned.method, planned.baseline)

    return call


def test_runs_that_only_one_of_them_has_are_left_out(tmp_path):
    for method, errors in {"ce": [5.0, 6.0, 99.0], "elb": [4.0, 4.5]}.items():
        for split, mae in enumerate(errors):
            write_run(tmp_path, method=method, split=split, mae=mae, soi_predicted=mae / 100)
    planned = planned_comparison(read_results(tmp_path))
    assert planned.n == 2
    assert planned.mae == pytest.approx((4.25, 5.5))
    write_run(tmp_path / "apart", method="ce", split=0)
    write_run(tmp_path / "apart", method="elb", split=1)
    assert planned_comparison(read_results(tmp_path / "apart")) is None


@pytest.mark.parametrize("figures", [(0.1, 0.99), (9.0, 0.01)])
def test_no_figure_has_a_part_in_choosing_the_pair(pair, figures):
    assert pair({"mv": figures, "po": (1.0, 0.5), "ld": (2.0, 0.7)}) is None
    assert pair({"ce": (1.0, 0.6)}) is None  # without elb none is put in its place
    assert pair({"elb": (3.0, 0.9)}) == pair({}, against="po") == ("elb", "ce")
    assert pair({}, alone="mv") == ("mv", "ce")
    assert pair({}, alone="mv", against="ld") == ("mv", "ld")


@pytest.mark.parametrize("figures", [(0.1, 0.99), (9.0, 0.01)])
def test_of_two_rows_there_is_one_pair(pair, figures):
    assert pair({"mv": figures, "po": (1.0, 0.5)}) == ("po", "mv")
    assert pair({}, against="po") == ("mv", "po")


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("rows", "named", "error", "message"),
    [
        ("ce elb", {"alone": "ebl"}, UnknownNameError, r"Unknown row of x for `alone` 'ebl'. Did you mean"),
        (
            "mv elb",
            {"alone": "elb"},
            InputError,
            r"`against` must name the row of x that elb is compared",
        ),
        (
            "ce elb",
            {"alone": "elb", "against": "elb"},
            InputError,
            "must be another row than the one it is compared with",
        ),
    ],
)
def test_a_pair_that_there_is_not_is_refused(rows, named, error, message):
    with pytest.raises(error, match=message):
        check_rows(rows.split(), of=" of x", **{"against": None, **named})
    check_rows(["ce", "elb"], against="elb")
    check_rows(["ce", "elb"], against="elb", alone="ce")
