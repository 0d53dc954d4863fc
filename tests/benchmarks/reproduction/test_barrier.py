from pathlib import Path

import pandas as pd

from reproduction.barrier import SHOWN, barrier_table, few_labels_table, read_forms, read_lines
from reproduction.text import MISSING

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "results/fgnet-barrier/README.md").read_text(encoding="utf-8")
EVERY = read_lines(ROOT / "results/fgnet-barrier/runs.csv")
RUNS = EVERY[EVERY["dataset"] == "fgnet"]
MEANS = RUNS.groupby("label").mean(numeric_only=True)


def test_a_form_is_told_by_its_settings_and_its_means_and_references_are_taken_on_the_same_splits():
    line = dict.fromkeys(SHOWN, 0.5) | {"dataset": "fgnet", "label": "steep", "split": 0}
    table = line | {"dataset": "esl", "valid_mae": 0.0}
    lines = pd.DataFrame([line, line | {"split": 1, "valid_mae": 1.5, "test_unimodal": 1.0}, table])
    tempered = {"test_rps_calibrated": 2.0, "test_nll_calibrated": 3.0}  # as read_results calls them
    known = line | tempered | {"label": "smooth-slopes-averaged", "valid_mae": 0.9}
    other = known | {"label": "elb-averaged", "valid_mae": 9.0}
    beyond = pd.DataFrame([known, known | {"split": 2, "valid_mae": 7.0}, other, other | {"label": "ce"}])
    forms = {"steep": {"ce": 0.3, "cost": "squared", "t": 2.0, "growth": 1.017, "reach": 4, "even": 0.5}}
    found = barrier_table(lines, forms, beyond).splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found]
    assert rows[0][:6] == ["CE", "RPS", "barrier", "cost of a gap", "t", "smoothed over"]
    assert [row[-1] for row in rows[2:]] == ["`smooth-slopes-averaged`", "", "`elb-averaged`"]
    assert " ".join(rows[2][:-1]) == " ".join([*[MISSING] * 6, "0.90 50.0 0.50 50.00 50.0 2.00 3.00"])
    assert rows[3][:6] == ["0.3", MISSING, "1", "squared", "2 to 5.4", "4, even shares"]
    assert " ".join(rows[3][6:-1]) == "1.00 50.0 0.50 50.00 75.0 0.50 0.50"
    assert rows[4][:6] == ["1", MISSING, "1", "log", "1", MISSING]


def test_few_labels_are_means_over_folds_set_by_set():
    line = {"label": "elb", "dataset": "esl", "test_mae": 0.25, "test_rps_calibrated": 0.5}
    other = line | {"dataset": "lev", "test_rps_calibrated": 0.125}
    found = few_labels_table(pd.DataFrame([line | {"dataset": "fgnet"}, line, line | {"test_mae": 0.75}, other]))
    assert found.splitlines()[0] == "| MAE / RPS, tempered | esl | lev |"
    assert found.splitlines()[2:] == ["| `elb` | 0.500 / 0.500 | 0.250 / 0.125 |"]


def test_the_page_is_right_about_few_labels():
    few = (
        EVERY[EVERY["dataset"] != "fgnet"]
        .groupby(["dataset", "label"])[["test_rps_calibrated", "test_nll_calibrated"]]
        .mean()
    )
    first = [few.loc[name].idxmin() for name in few.index.levels[0] if name != "fgnet"]
    assert [sum(lowest[column] == "smooth-slopes" for lowest in first) for column in few] == [4, 5]
    assert "has the lowest RPS on four of the five sets and the lowest NLL on all" in PAGE


def test_every_form_of_the_file_was_run_on_four_splits():
    assert set(read_forms(ROOT / "benchmarks/barrier_variants.toml")) == set(MEANS.index)
    assert (RUNS.groupby("label")["split"].apply(sorted).map(tuple) == (0, 1, 2, 3)).all()


def test_what_the_page_says_is_what_was_run():
    for said, label, column, value in [
        ("smoothed scores have an error of 3.63", "ce-barrier-0.1-smooth", "test_mae", 3.63),
        ("a tempered RPS and NLL of 2.76 and 2.80", "ce-barrier-0.1-smooth", "test_rps_calibrated", 2.76),
        ("a tempered RPS and NLL of 2.76 and 2.80", "ce-barrier-0.1-smooth", "test_nll_calibrated", 2.80),
        ("only 64 % of posteriors have one peak", "ce-barrier-0.1-smooth", "test_unimodal", 0.64),
        ("hardly need a temperature (mean 2.0)", "ce-slower-smooth-t5", "temperature", 2.0),
        ("with full steps it is 17 at t = 1 and 3 at t = 5", "ce-smooth-t5", "temperature", 3),
        ("4.86 at t = 1, 3.75 at t = 3 and 3.78 at t = 5", "ce-slow-smooth", "test_mae", 4.86),
        ("4.86 at t = 1, 3.75 at t = 3 and 3.78 at t = 5", "ce-slow-smooth-t3", "test_mae", 3.75),
        ("4.86 at t = 1, 3.75 at t = 3 and 3.78 at t = 5", "ce-slow-smooth-t5", "test_mae", 3.78),
        ("| `smooth-elb` at t = 3 | 3.59 |", "ce-slower-smooth-t3", "test_mae", 3.59),
        ("| with RPS next to cross-entropy | 3.60 (mode) |", "rps-ce-slower-smooth-t3", "test_mae", 3.60),
        ("the error is 3.75 and the tempered RPS 3.38", "rps-barrier-0.1", "test_mae", 3.75),
        ("the error is 3.75 and the tempered RPS 3.38", "rps-barrier-0.1", "test_rps_calibrated", 3.38),
        ("at t = 5 (3.63 instead of 3.68)", "ce-slower-smooth-twice-t5", "test_mae", 3.63),
        ("at t = 3 (3.76 instead of 3.59)", "ce-slower-smooth-twice-t3", "test_mae", 3.76),
        ("61 % of pairs are in order", "ce-barrier-mean", "test_soi_predicted", 0.61),
        ("(90 % instead of 74 %)", "ce-growing", "test_unimodal", 0.90),
        ("does not bring it back (84 %)", "rps-ce-logistic-0.3-t10", "test_unimodal", 0.84),
        ("one peak in 88 %, with errors of 4.4 to 4.5", "rps-ce-slopes-logistic-t10", "test_mae", 4.4),
        ("one peak in 88 %, with errors of 4.4 to 4.5", "rps-ce-slopes-squared-t10", "test_mae", 4.5),
        ("98 % have one peak, and the error rises to 3.81", "rps-ce-even-t3", "test_mae", 3.81),
        ("the error is 3.63 and 94 % have one peak", "rps-ce-slow-even-t3", "test_unimodal", 0.94),
        ("at the lowest validation error of the table (3.27)", "rps-ce-slow-even-t3", "valid_mae", 3.27),
        ("Sums in place of averages raise the error to 3.98", "rps-ce-sums-t3", "test_mae", 3.98),
    ]:
        assert said in PAGE
        assert round(MEANS.loc[label, column], len(str(value).partition(".")[2])) == value


def test_a_row_of_the_page_is_what_was_run():
    for row, label, with_temperature in [
        ("cross-entropy, t = 5 (`smooth-elb` with `t = 5` and a learning rate of 3e-4)", "ce-slower-smooth-t5", False),
        ("cross-entropy and RPS, t = 5", "rps-ce-slower-smooth-t5", False),
        ("cross-entropy, t = 3", "ce-slower-smooth-t3", False),
        ("cross-entropy, t = 5, twice the barrier", "ce-slower-barrier-0.6-smooth-t5", False),
        ("log-barrier, t = 3", "rps-ce-slower-smooth-t3", True),
        ("log loss of the question, t = 5", "rps-ce-logistic-t5", True),
        ("log loss of the question, t = 10", "rps-ce-logistic-t10", True),
        ("squared error of the question, t = 10", "rps-ce-squared-t10", True),
    ]:
        own = MEANS.loc[label]
        figures = [f"{own[f'test_{name}']:.2f}" for name in ("mae", "rps_calibrated", "nll_calibrated")]
        temperature = [f"{own['temperature']:.1f}"] * with_temperature
        cells = [row, *figures, *temperature, f"{100 * own['test_unimodal']:.0f}"]
        assert f"| {' | '.join(cells)} |" in PAGE
