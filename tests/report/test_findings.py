import pytest

from onepeak.experiment.results import read_results
from onepeak.report.findings import findings
from onepeak.report.summary import summary
from run_folders import write_run


def write_rows(root, rows, **changes):
    """One run for each (error, order) of each method."""
    for method, figures in rows.items():
        for split, (mae, soi) in enumerate(figures):
            write_run(root, method=method, split=split, mae=mae, soi_predicted=soi, **changes)
    return read_results(root)


@pytest.fixture
def found(tmp_path):
    """The findings on hand-made results."""

    def call(rows, *, paradoxical=None, variation=None, against=None, alone=None, **changes):
        runs = write_rows(tmp_path, rows, **changes)
        table = summary(runs, against=against)
        return findings(runs, table, alone=alone, paradoxical=paradoxical or {}, variation=variation or {})

    return call


PLANNED = "(chosen in advance)"
FEW = "Too few runs to name a winner (at least 3 needed)."
CLEAR = {
    "ce": [(5.5, 0.53), (5.6, 0.54), (5.4, 0.52), (5.7, 0.55), (5.3, 0.51)],
    "elb": [(4.3, 0.99), (4.5, 0.98), (4.1, 1.0), (4.4, 0.99), (4.2, 0.99)],
}


def test_a_real_difference_is_called_significant(found):
    # The differences are -1.2, -1.1, -1.3, -1.3, -1.1: mean -1.2, deviation 0.1. With 20 tested on and 60 trained on,
    # t = -1.2 / (0.1 sqrt(1/5 + 1/3)) = -16.43 with 4 degrees of freedom, so p = 0.00008.
    assert found(CLEAR) == (
        "ELB vs CE: MAE 4.30 vs 5.50, 1.20 lower, significant (p < 0.001, corrected resampled t-test, n = 5).",
        "Adjacent pairs in order: ELB 99.0 %, CE 53.0 % (random guessing 75.0 %).",
    )


def test_a_difference_that_is_gone_by_the_median_is_said_to_be(tmp_path):
    def first(medians):
        for method, figures in CLEAR.items():
            for split, ((mae, soi), median) in enumerate(zip(figures, medians[method], strict=True)):
                write_run(tmp_path, method=method, split=split, mae=mae, soi_predicted=soi, mae_median=median)
        runs = read_results(tmp_path)
        return findings(runs, summary(runs), paradoxical={}, variation={})[:2]

    elb = [mae for mae, _ in CLEAR["elb"]]
    decided, by_median = first({"elb": elb, "ce": [4.3, 4.4, 4.2, 4.4, 4.2]})
    assert decided.startswith("ELB vs CE: MAE 4.30 vs 5.50, 1.20 lower, significant")
    assert by_median == (
        "ELB vs CE, if both decided by the median: MAE 4.30 vs 4.30, equal, not significant (p = 1.000, corrected "
        "resampled t-test, n = 5)."
    )
    assert first({"elb": elb, "ce": [4.0, 4.2, 3.8, 4.1, 3.9]})[1].startswith(
        "ELB vs CE, if both decided by the median: MAE 4.30 vs 4.00, 0.30 higher"
    )
    assert first({"elb": elb, "ce": [5.0, 5.1, 4.8, 5.1, 4.9]})[1].startswith(
        "Adjacent pairs in order: ELB "  # the same outcome by the median, which is not told again
    )


def test_who_is_best_and_who_is_worse_by_the_median_is_told_where_it_is_another(tmp_path):
    for method, figures in (CLEAR | {"mv": [(5.8, 0.9), (6.1, 0.9), (5.7, 0.9), (6.0, 0.9), (5.7, 0.9)]}).items():
        for split, (mae, soi) in enumerate(figures):
            median = mae - 1.2 + (-1) ** split / 100 if method == "ce" else mae
            write_run(tmp_path, method=method, split=split, mae=mae, soi_predicted=soi, mae_median=median)
    runs = read_results(tmp_path)
    first, second, *_ = findings(runs, summary(runs), paradoxical={}, variation={})
    assert first == "Lowest MAE: ELB (4.30 ± 0.16); all others are significantly worse."
    assert second == ("If all decided by the median: Lowest MAE: ELB (4.30 ± 0.16); MV is significantly worse, CE not.")
    _, against, *_ = findings(runs, summary(runs, against="ce"), paradoxical={}, variation={})
    assert against == (
        "If all decided by the median: Lowest MAE: ELB (4.30 ± 0.16). MAE against CE (Holm): "
        "MV significantly higher; ELB no significant difference."
    )


def test_a_difference_that_may_be_chance_is_called_not_significant(found):
    # The differences are -0.3, 0.1, -0.1: mean -0.1, deviation 0.2; t = -0.1 / (0.2 sqrt(1/3 + 1/3)) = -0.6124 with
    # 2 degrees of freedom, for which p = 1 - t / sqrt(2 + t^2) = 1 - 0.6124 / 1.5411 = 0.603.
    sentences = found(
        {"ce": [(0.6, 0.8), (0.5, 0.8), (0.7, 0.8)], "elb": [(0.3, 0.9), (0.6, 0.9), (0.6, 0.9)]},
    )
    assert sentences[0] == (
        "ELB vs CE: MAE 0.500 vs 0.600, 0.100 lower, not significant (p = 0.603, corrected resampled t-test, n = 3)."
    )
    assert sentences[-1] == "Only 3 runs of each method: more runs may change these results."


def test_figures_of_networks_that_were_hardly_trained_are_told_first_and_only_then(tmp_path):
    write_rows(tmp_path, {"ce": CLEAR["ce"]}, epochs=60, best_epoch=30, selected_by="mae")
    early = {"epochs": 60, "best_epoch": 1, "selected_by": "mae"}
    runs = write_rows(tmp_path, {"elb": [(4.0, 0.55)] * 5}, **early)
    first, second, *_ = findings(runs, summary(runs), paradoxical={}, variation={})
    assert first.startswith("ELB kept its first or second epoch in 5 of 5 runs, by the validation mae, with no more")
    assert second.startswith("ELB vs CE: MAE")
    for changes in ({**early, "best_epoch": 2, "soi_predicted": 0.55}, {**early, "soi_predicted": 0.99}):
        for run in range(3):  # trained for longer, or in order already: easy data are learnt at once
            write_run(tmp_path, method="elb", split=run, mae=4.0, **changes)
        runs = read_results(tmp_path)
        assert findings(runs, summary(runs), paradoxical={}, variation={})[0].startswith("ELB vs CE: MAE")


def test_methods_no_better_than_one_answer_to_everything_are_told_first_in_one_sentence(tmp_path):
    def first(**constants):
        for method, errors in constants.items():
            for split, error in enumerate(errors):  # of the constant; that of every run is 0.5
                constant = {"constant": {"label": "mild", "valid_mae": error}}
                write_run(tmp_path, method=method, split=split, soi_predicted=0.99, **constant)
        runs = read_results(tmp_path)
        return findings(runs, summary(runs), paradoxical={}, variation={})[0]

    assert first(ce=[0.5, 0.4, 0.6], elb=[0.5, 0.5, 0.5], mv=[0.5, 0.6, 0.6]).startswith(
        "The validation MAE of CE (in 2 of 3 runs) and ELB (in 3 of 3 runs) is no better than that of one constant"
    )
    assert first(ce=[0.6] * 3, elb=[0.6] * 3).startswith("Lowest MAE: CE, MV and ELB")


@pytest.mark.parametrize("methods", [("elb",), ("ce", "elb"), ("ce", "mv", "elb")])
def test_what_one_answer_to_everything_reaches_is_told_beside_the_errors(tmp_path, methods):
    constant = {"label": "mild", "valid_mae": 9.0, "test_mae": 1.5}
    for method in methods:
        write_run(tmp_path, method=method, constant=constant)
    runs = read_results(tmp_path)
    assert "Baseline (one constant class): MAE 1.500." in findings(runs, summary(runs), paradoxical={}, variation={})


def test_a_higher_error_is_said_to_be_higher(found):
    swapped = {"ce": CLEAR["elb"], "elb": CLEAR["ce"]}
    assert found(swapped)[0].startswith("ELB vs CE: MAE 5.50 vs 4.30, 1.20 higher, significant")


def test_the_same_error_is_no_difference(found):
    assert found({"ce": [(0.5, 0.6)] * 3, "elb": [(0.5, 0.9)] * 3})[0] == (
        "ELB vs CE: MAE 0.500 vs 0.500, equal, not significant (p = 1.000, corrected resampled t-test, n = 3)."
    )


def test_one_run_of_each_decides_nothing(found):
    sentences = found({"ce": [(5.0, 0.5)], "elb": [(4.0, 0.9)], "mv": [(3.0, 0.7)]})
    assert sentences[:3] == (
        FEW,
        "Adjacent pairs in order: ELB 90.0 %, MV 70.0 %, CE 50.0 % (random guessing 75.0 % by the mode, "
        "56.1 % by the mean).",
        f"ELB vs CE {PLANNED}: MAE 4.00 vs 5.00, 1.00 lower.",
    )


def test_two_runs_of_each_decide_nothing_however_small_their_p_value(found):
    rows = {"ce": [(5.0, 0.5), (5.1, 0.5)], "elb": [(4.0, 0.9), (4.1001, 0.9)]}  # p = 0.00004
    assert found(rows)[:2] == (FEW, "ELB vs CE: MAE 4.05 vs 5.05, 1.00 lower.")
    rows |= {"pn": [(6.0, 0.7), (6.1, 0.7)]}
    assert found(rows)[0] == found(rows, against="ce")[0] == FEW
    assert not any("significant" in each or "p =" in each for each in found(rows))


def test_chance_is_that_of_the_decision_and_left_out_where_that_is_not_known(found, tmp_path):
    assert found({"mv": [(0.5, 0.98)]})[0] == (
        "MV: MAE 0.500 over 1 run, 98.0 % of adjacent pairs in order (random guessing 56.1 %)."
    )
    write_run(tmp_path / "mine", method="mine", mae=0.5, soi_predicted=0.98)
    runs = read_results(tmp_path / "mine")
    assert findings(runs, summary(runs), paradoxical={}, variation={})[0] == (
        "mine: MAE 0.500 over 1 run, 98.0 % of adjacent pairs in order."
    )


def test_one_method_is_described_and_compared_with_nothing(found):
    assert found({"elb": [(0.5, 0.98), (0.7, 1.0)]}) == (
        "ELB: MAE 0.600 ± 0.141 over 2 runs, 99.0 % of adjacent pairs in order (random guessing 75.0 %).",
    )


def test_one_run_of_one_method(found):
    assert found({"elb": [(0.5, 0.98)]})[0] == (
        "ELB: MAE 0.500 over 1 run, 98.0 % of adjacent pairs in order (random guessing 75.0 %)."
    )


def test_the_best_of_several_is_named_with_those_it_beats(found):
    rows = CLEAR | {"mv": [(3.8, 0.9), (4.6, 0.9), (3.6, 0.9), (4.5, 0.9), (3.9, 0.9)]}
    assert found(rows)[0] == "Lowest MAE: MV (4.08 ± 0.44); CE is significantly worse, ELB not."


def test_more_methods_than_a_reader_can_follow_are_counted(found):
    beside = {f"mv-{number}": [(4.3, 0.9), (4.4, 0.9), (4.2, 0.9), (4.3, 0.9), (4.4, 0.9)] for number in range(6)}
    assert found(CLEAR | beside)[0].endswith("; CE is significantly worse, 6 methods not.")


def test_of_many_methods_the_order_of_the_best_the_worst_the_winner_and_the_planned_two_is_told(found):
    beside = {f"mv-{number}": [(4.8, 0.8 + number / 100)] * 5 for number in range(4)}
    ends = {"slopes": [(4.9, 1.0)] * 5, "ren": [(4.9, 0.3)] * 5, "po": [(1.0, 0.7)] * 5}
    assert found(CLEAR | beside | ends)[1] == (
        "Adjacent pairs in order: slopes 100.0 %, ELB 99.0 %, PO 70.0 %, CE 53.0 %, REN 30.0 % (random guessing 75.0 % "
        "by the mode, 56.1 % by the mean, 66.4 % by the median)."
    )


def test_the_order_is_that_of_the_runs_that_all_have(found):
    rows = CLEAR | {"elb": [*CLEAR["elb"], (4.0, 0.1)], "mv": [*CLEAR["ce"], (4.0, 0.1)]}
    assert "Adjacent pairs in order: ELB 99.0 %" in found(rows)[1]


def test_against_a_row_of_ones_choice_others_are_lower_higher_or_not_told_from_it(found):
    mv = [(4.4, 0.9), (4.4, 0.9), (4.2, 0.9), (4.3, 0.9), (4.3, 0.9)]
    rows = CLEAR | {"mv": mv, "po": [(1.3, 0.9), (1.4, 0.9), (1.3, 0.9), (1.4, 0.9), (1.2, 0.9)]}
    sentences = found(rows, against="mv")
    assert sentences[1] == (
        "Adjacent pairs in order: ELB 99.0 %, MV 90.0 %, PO 90.0 %, CE 53.0 % (random guessing 75.0 % by "
        "the mode, 56.1 % by the mean)."
    )
    assert sentences[2].startswith(f"ELB vs CE {PLANNED}: MAE 4.30 vs 5.50, 1.20 lower")
    assert sentences[0] == (
        "Lowest MAE: PO (1.32 ± 0.08). MAE against MV (Holm): PO significantly lower; CE "
        "significantly higher; ELB no significant difference."
    )


def test_against_elb_no_other_is_picked_to_be_compared_alone_and_one_run_decides_nothing(found):
    sentences = found({"ce": [(5.0, 0.5)], "elb": [(4.0, 0.9)], "mv": [(3.0, 0.7)]}, against="elb")
    assert sentences[0] == FEW
    assert sentences[2].startswith(f"ELB vs CE {PLANNED}: MAE 4.00 vs 5.00, 1.00 lower")


def test_without_elb_and_ce_nothing_is_compared_alone_unless_it_is_named(found):
    rows = {"pn": CLEAR["ce"], "po": CLEAR["elb"], "mv": [(mae + 1, soi) for mae, soi in CLEAR["elb"]]}
    assert not any(PLANNED in each for each in found(rows))
    assert not any(PLANNED in each for each in found(rows, against="mv"))
    named = found(rows, against="mv", alone="pn")
    assert [each.partition(": ")[0] for each in named if PLANNED in each] == [f"PN vs MV {PLANNED}"]


def test_a_named_pair_takes_the_place_of_elb_and_ce(found):
    [alone] = [each for each in found(CLEAR | {"mv": CLEAR["ce"]}, alone="mv") if PLANNED in each]
    assert alone.startswith(f"MV vs CE {PLANNED}: MAE 5.50 vs 5.50, equal")


def test_a_named_pair_that_shares_no_run_is_told_of(tmp_path):
    write_rows(tmp_path, CLEAR | {"pn": CLEAR["ce"]})
    write_run(tmp_path, method="mv", split=9, mae=1.0)
    runs = read_results(tmp_path)
    assert findings(runs, summary(runs), alone="mv", paradoxical={}, variation={})[0] == (
        "MV and CE share no split and fold to be compared on."
    )


def test_a_row_whose_order_is_not_known_has_none(found):
    sentences = found({"ce": [(5.0, None)], "elb": [(4.0, 0.9)], "mv": [(3.0, 0.7)]}, against="ce")
    assert sentences[1] == (
        "Adjacent pairs in order: ELB 90.0 %, MV 70.0 % (random guessing 75.0 % by the mode, 56.1 % by the mean)."
    )


def test_the_best_of_several_is_so_on_the_runs_that_all_have(found):
    hard = [(9.0, 0.9), (9.5, 0.9), (8.5, 0.9)]
    rows = {"ce": CLEAR["ce"], "elb": [*CLEAR["elb"], *hard], "mv": [(mae + 3, soi) for mae, soi in CLEAR["ce"]]}
    sentences = found(rows)
    assert sentences[2].startswith(f"ELB vs CE {PLANNED}: MAE 4.30 vs 5.50, 1.20 lower")
    assert sentences[0] == (
        "Lowest MAE over the 5 runs that all methods share: ELB; all others are significantly worse."
    )


def test_all_that_share_the_lowest_error_are_named_and_the_others_are_the_rest(found):
    rows = CLEAR | {"mv": CLEAR["elb"], "ren": [(mae + 0.01, soi) for mae, soi in reversed(CLEAR["elb"])]}
    assert found(rows)[0] == "Lowest MAE: MV and ELB (4.30); CE is significantly worse, REN not."


@pytest.mark.parametrize("rows", [{"mv": 1, "ce": 3}, {"mv": 1, "ce": 1}, {f"mv-{number}": 1 for number in range(5)}])
def test_one_run_each_names_no_winner(found, rows):
    sentences = found({row: [(mae, 0.9)] for row, mae in {"elb": 1, **rows}.items()})
    assert sentences[0] == FEW
    assert not any(each.startswith("Lowest") for each in sentences)


def test_many_that_share_the_lowest_error_are_counted(found):
    rows = {row: [(1, 0.9)] * 3 for row in ("elb", *(f"mv-{number}" for number in range(5)))}
    assert found(rows)[0].startswith("Lowest MAE: 6 methods (1.00)")


def test_the_lowest_error_is_shared_on_the_runs_that_all_have_and_against_a_row(found):
    rows = CLEAR | {"mv": CLEAR["elb"]}
    assert found(rows, against="ce")[0] == (
        "Lowest MAE: MV and ELB (4.30). MAE against CE (Holm): MV and ELB significantly lower."
    )
    assert found(rows | {"ce": [*CLEAR["ce"], (9.0, 0.9)]})[0] == (
        "Lowest MAE over the 5 runs that all methods share: MV and ELB; all others are significantly worse."
    )


def test_paradoxes_and_the_truth_are_told_where_they_are_known(found):
    sentences = found(CLEAR, paradoxical={"ce": 0.311, "elb": 0.0}, variation={"ce": 0.3, "elb": 0.125})
    assert sentences[2:] == (
        "The two most probable classes are not neighbours in 31.1 % of CE's predictions and 0.0 % of ELB's.",
        "Closest to the true posteriors: ELB (total variation 0.125); farthest: CE (0.300).",
    )


def test_methods_that_share_no_split_are_described_each_for_itself(tmp_path):
    write_run(tmp_path, method="ce", split=0, mae=1.0)
    write_run(tmp_path, method="elb", split=1, mae=0.5)
    runs = read_results(tmp_path)
    sentences = findings(runs, summary(runs), paradoxical={}, variation={})
    assert [sentence.split()[0] for sentence in sentences] == ["CE:", "ELB:"]
