import pytest

from onepeak.experiment.results import read_results
from onepeak.report.findings import TOO_FEW, findings
from onepeak.report.run_data import CalibrationSummary
from onepeak.report.summary import summary
from run_folders import write_run


def write_rows(root, rows, **changes):
    """One run for each (error, order) of each method."""
    for method, figures in rows.items():
        for split, (mae, soi) in enumerate(figures):
            write_run(root, method=method, split=split, mae=mae, soi_predicted=soi, **changes)
    return read_results(root)


def of(runs, *, paradoxical=None, variation=None, against=None, alone=None, calibration=None):
    """The findings as words, and as all statistics behind them."""
    table, more = summary(runs, against=against), {} if calibration is None else {"calibration": calibration}
    found = findings(runs, table, alone=alone, paradoxical=paradoxical or {}, variation=variation or {}, **more)
    return [each.text for each in found], [detail for each in found for detail in each.details]


@pytest.fixture
def found(tmp_path):
    """The same on hand-made results."""

    def call(rows, *, changes=None, **more):
        return of(write_rows(tmp_path, rows, **(changes or {})), **more)

    return call


PLANNED = "(chosen in advance)"
CLEAR = {
    "ce": [(5.5, 0.53), (5.6, 0.54), (5.4, 0.52), (5.7, 0.55), (5.3, 0.51)],
    "elb": [(4.3, 0.99), (4.5, 0.98), (4.1, 1.0), (4.4, 0.99), (4.2, 0.99)],
}
MV = [(3.8, 0.9), (4.6, 0.9), (3.6, 0.9), (4.5, 0.9), (3.9, 0.9)]


def test_a_real_difference_is_a_choice_with_its_statistics(found):
    # The differences are -1.2, -1.1, -1.3, -1.3, -1.1: mean -1.2, deviation 0.1. With 20 tested on and 60 trained on,
    # t = -1.2 / (0.1 sqrt(1/5 + 1/3)) = -16.43 with 4 degrees of freedom, so p = 0.00008.
    assert found(CLEAR) == (
        [
            "Take ELB: the lowest error (MAE 4.30 ± 0.16); the difference is unlikely to be due to chance.",
            "Consistency: with ELB, 99.0 % of adjacent classes fall away from the prediction, with CE only 53.0 %.",
        ],
        [
            "ELB vs CE: MAE 4.30 vs 5.50, 1.20 lower, significant (p < 0.001, corrected resampled t-test, n = 5).",
            "Adjacent pairs in order: ELB 99.0 %, CE 53.0 % (random guessing 75.0 %).",
        ],
    )


def test_a_difference_that_may_be_chance_names_no_winner_and_few_runs_ask_for_more(found):
    # The differences are -0.3, 0.1, -0.1: mean -0.1, deviation 0.2; t = -0.1 / (0.2 sqrt(1/3 + 1/3)) = -0.6124 with
    # 2 degrees of freedom, for which p = 1 - t / sqrt(2 + t^2) = 1 - 0.6124 / 1.5411 = 0.603.
    words, statistics = found({"ce": [(0.6, 0.8), (0.5, 0.8), (0.7, 0.8)], "elb": [(0.3, 0.9), (0.6, 0.9), (0.6, 0.9)]})
    assert words[0].startswith("No clear winner: ELB has the lowest error")
    assert statistics[0] == (
        "ELB vs CE: MAE 0.500 vs 0.600, 0.100 lower, not significant (p = 0.603, corrected resampled t-test, n = 3)."
    )
    assert words[-1].endswith("with only 3 runs of each method, results may change.")
    words, statistics = found({"ce": CLEAR["elb"], "elb": CLEAR["elb"], "po": CLEAR["elb"]})
    assert words[0] == "CE, PO or ELB have the lowest error (MAE 4.30 ± 0.16)."
    assert "MAE 4.30 vs 4.30, equal, not significant (p = 1.000" in statistics[0]
    assert "Consistency: with every method, at least 99.0 % of adjacent classes fall away from the prediction." in words


@pytest.mark.parametrize("rows", [{"ce": 5, "mv": 3}, {"ce": 5}, {f"mv-{number}": 1 for number in range(5)}])
def test_one_run_each_names_no_winner(found, rows):
    words, statistics = found({row: [(mae, 0.9)] for row, mae in {"elb": 4, **rows}.items()})
    assert words[0] == TOO_FEW
    assert words[-1].startswith("More runs would make this more certain")
    assert words[-1].endswith("at least 3 runs that all methods share.")
    assert not any("lowest" in each.lower() or "significant" in each for each in (*words, *statistics))


def test_two_runs_of_each_decide_nothing_however_small_their_p_value(found):
    rows = {"ce": [(5.0, 0.5), (5.1, 0.5)], "elb": [(4.0, 0.9), (4.1001, 0.9)]}  # p = 0.00004
    words, statistics = found(rows)
    assert (words[0], statistics[0]) == (TOO_FEW, "ELB vs CE: MAE 4.05 vs 5.05, 1.00 lower.")
    rows |= {"pn": [(6.0, 0.7), (6.1, 0.7)]}
    assert found(rows)[0][0] == found(rows, against="ce")[0][0] == TOO_FEW
    assert not any("significant" in each or "p =" in each for part in found(rows) for each in part)


def test_networks_that_were_hardly_trained_are_told_first_and_only_then(tmp_path):
    write_rows(tmp_path, {"ce": CLEAR["ce"]}, epochs=60, best_epoch=30, selected_by="mae")
    early = {"epochs": 60, "best_epoch": 1, "selected_by": "mae"}
    first, second, *_ = of(write_rows(tmp_path, {"elb": [(4.0, 0.55)] * 5}, **early))[0]
    assert first.startswith("ELB kept its first or second epoch in 5 of 5 runs, by the validation mae, with no more")
    assert second.startswith("Take ELB")
    for changes in ({**early, "best_epoch": 2, "soi_predicted": 0.55}, {**early, "soi_predicted": 0.99}):
        for run in range(3):  # trained for longer, or in order already: easy data are learnt at once
            write_run(tmp_path, method="elb", split=run, mae=4.0, **changes)
        assert of(read_results(tmp_path))[0][0].startswith("Take ELB")


def test_methods_no_better_than_one_answer_to_everything_are_told_first_in_one_sentence(tmp_path):
    def first(**constants):
        for method, errors in constants.items():
            for split, error in enumerate(errors):  # of the constant; that of every run is 0.5
                constant = {"constant": {"label": "mild", "valid_mae": error}}
                write_run(tmp_path, method=method, split=split, soi_predicted=0.99, **constant)
        return of(read_results(tmp_path))[0][0]

    assert first(ce=[0.5, 0.4, 0.6], elb=[0.5, 0.5, 0.5], mv=[0.5, 0.6, 0.6]).startswith(
        "The validation MAE of CE (in 2 of 3 runs) and ELB (in 3 of 3 runs) is no better than that of one constant"
    )
    assert first(ce=[0.6] * 3, elb=[0.6] * 3) == "CE, MV or ELB have the lowest error (MAE 0.500 ± 0.000)."


@pytest.mark.parametrize("methods", [("elb",), ("ce", "elb"), ("ce", "mv", "elb")])
def test_what_one_answer_to_everything_reaches_is_told_beside_the_errors(tmp_path, methods):
    for method in methods:
        write_run(tmp_path, method=method, constant={"label": "mild", "valid_mae": 9.0, "test_mae": 1.5})
    words, statistics = of(read_results(tmp_path))
    assert "Baseline (one constant class): MAE 1.500." in (*words, *statistics)


@pytest.mark.parametrize(("method", "guessing"), [("mv", " (random guessing 56.1 %)"), ("mine", "")])
def test_one_method_is_described_and_compared_with_nothing(found, method, guessing):
    assert found({method: [(0.5, 0.98), (0.7, 1.0)]}) == (
        [f"{method.upper() if method == 'mv' else method}: MAE 0.600 ± 0.141 over 2 runs, "
         f"99.0 % of adjacent pairs in order{guessing}."],
        [],
    )  # fmt: skip


def test_those_that_may_be_as_good_as_the_best_are_named_or_counted(found):
    assert found(CLEAR | {"mv": MV})[0][0] == "Take MV: the lowest error (MAE 4.08 ± 0.44); ELB may be as good."
    beside = {f"mv-{number}": [(4.3, 0.9), (4.4, 0.9), (4.2, 0.9), (4.3, 0.9), (4.4, 0.9)] for number in range(6)}
    assert found(CLEAR | beside)[0][0].endswith("; 7 methods may be as good.")


def test_of_many_methods_the_order_of_the_best_the_worst_the_winner_and_the_planned_two_is_told(found):
    beside = {f"mv-{number}": [(4.8, 0.8 + number / 100)] * 5 for number in range(4)}
    ends = {"slopes": [(4.9, 1.0)] * 5, "ren": [(4.9, 0.3)] * 5, "po": [(1.0, 0.7)] * 5}
    assert (
        "Adjacent pairs in order: slopes 100.0 %, ELB 99.0 %, PO 70.0 %, CE 53.0 %, REN 30.0 % (random guessing 75.0 % "
        "by the mode, 56.1 % by the mean, 66.4 % by the median)."
    ) in found(CLEAR | beside | ends)[1]


def test_the_order_and_the_best_are_those_of_the_runs_that_all_have(found):
    hard = [(9.0, 0.1), (9.5, 0.1), (8.5, 0.1)]
    rows = {"ce": CLEAR["ce"], "elb": [*CLEAR["elb"], *hard], "mv": [(mae + 3, soi) for mae, soi in CLEAR["ce"]]}
    words, statistics = found(rows)
    assert words[0].startswith("Take ELB")
    assert "with ELB, 99.0 % of adjacent" in words[1]
    assert statistics[0].startswith(f"ELB vs CE {PLANNED}: MAE 4.30 vs 5.50, 1.20 lower")


def test_against_a_row_of_ones_choice_others_are_lower_higher_or_not_told_from_it(found):
    mv = [(4.4, 0.9), (4.4, 0.9), (4.2, 0.9), (4.3, 0.9), (4.3, 0.9)]
    rows = CLEAR | {"mv": mv, "po": [(1.3, 0.9), (1.4, 0.9), (1.3, 0.9), (1.4, 0.9), (1.2, 0.9)]}
    words, statistics = found(rows, against="mv")
    assert words[0] == "PO has the lowest error (MAE 1.32 ± 0.08)."
    assert statistics[0] == (
        "MAE against MV (Holm): PO significantly lower; CE significantly higher; ELB no significant difference."
    )
    assert statistics[1].startswith(f"ELB vs CE {PLANNED}: MAE 4.30 vs 5.50, 1.20 lower")


def test_a_pair_is_compared_alone_only_if_it_is_elb_and_ce_or_named(found):
    rows = {"pn": CLEAR["ce"], "po": CLEAR["elb"], "mv": [(mae + 1, soi) for mae, soi in CLEAR["elb"]]}
    assert not any(PLANNED in each for against in (None, "mv") for each in found(rows, against=against)[1])
    named = [each for each in found(rows, against="mv", alone="pn")[1] if PLANNED in each]
    assert [each.partition(": ")[0] for each in named] == [f"PN vs MV {PLANNED}"]
    [alone] = [each for each in found(CLEAR | {"mv": CLEAR["ce"]}, alone="mv")[1] if PLANNED in each]
    assert alone.startswith(f"MV vs CE {PLANNED}: MAE 5.50 vs 5.50, equal")


def test_a_named_pair_that_shares_no_run_is_told_of(tmp_path):
    write_rows(tmp_path, CLEAR | {"pn": CLEAR["ce"]})
    write_run(tmp_path, method="mv", split=9, mae=1.0)
    assert of(read_results(tmp_path), alone="mv")[0][0] == "MV and CE share no split and fold to be compared on."


def test_paradoxes_and_the_truth_are_told_where_they_are_known(found):
    _, statistics = found(CLEAR, paradoxical={"ce": 0.311, "elb": 0.0}, variation={"ce": 0.3, "elb": 0.125})
    assert statistics[2:] == [
        "The two most probable classes are not neighbours in 31.1 % of CE's predictions and 0.0 % of ELB's.",
        "Closest to the true posteriors: ELB (total variation 0.125); farthest: CE (0.300).",
    ]


def test_how_far_probabilities_are_off_is_told_where_they_were_calibrated(found):
    def calibration(trained, calibrated):
        found = CalibrationSummary()
        found.trained.figures.append({"ece": trained})
        found.calibrated.figures.append({"ece": calibrated})
        return found

    words, statistics = found(CLEAR, calibration={"ce": calibration(0.2, 0.031), "elb": calibration(0.1, 0.012)})
    assert words[2] == (
        "Probabilities: after calibration, those of ELB are off by 1.2 percentage points on average, "
        "those of CE by 3.1."
    )
    assert statistics[-1] == "Expected calibration error as trained: CE 0.200, ELB 0.100."


def test_methods_that_share_no_split_are_described_each_for_itself(tmp_path):
    write_run(tmp_path, method="ce", split=0, mae=1.0)
    write_run(tmp_path, method="elb", split=1, mae=0.5)
    assert [words.split()[0] for words in of(read_results(tmp_path))[0]] == ["CE:", "ELB:"]
