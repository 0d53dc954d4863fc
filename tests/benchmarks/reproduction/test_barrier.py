from pathlib import Path

import pandas as pd
import pytest

from reproduction.barrier import SHOWN, barrier_table, few_labels_table, read_forms
from reproduction.text import MISSING

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "results/fgnet-barrier/README.md").read_text(encoding="utf-8")
EVERY = pd.read_csv(ROOT / "results/fgnet-barrier/runs.csv")
RUNS = EVERY[EVERY["dataset"] == "fgnet"]
MEANS = RUNS.groupby("label").mean(numeric_only=True)


def test_a_form_is_told_by_its_settings_and_its_means_and_references_are_taken_on_the_same_splits():
    line = dict.fromkeys(SHOWN, 0.5) | {"dataset": "fgnet", "label": "steep", "split": 0}
    table = line | {"dataset": "esl", "valid_mae": 0.0}
    lines = pd.DataFrame([line, line | {"split": 1, "valid_mae": 1.5, "test_unimodal": 1.0}, table])
    tempered = {"test_rps_calibrated": 2.0, "test_nll_calibrated": 3.0}
    known = line | tempered | {"label": "smooth-slopes-averaged", "valid_mae": 0.9}
    other = known | {"label": "elb-averaged", "valid_mae": 9.0}
    beyond = pd.DataFrame([known, known | {"split": 2, "valid_mae": 7.0}, other, other | {"label": "ce"}])
    beyond = beyond.drop(columns=["rps_tempered", "nll_tempered"])
    forms = {"steep": {"ce": 0.3, "t": 2.0, "growth": 1.017, "reach": 4}}
    rows = [line.strip("| ").split(" | ") for line in barrier_table(lines, forms, beyond).splitlines()]
    assert rows[0][:6] == ["form", "CE", "RPS", "barrier", "t", "smoothed over"]
    assert " ".join(rows[2][1:]) == " ".join([*[MISSING] * 5, "0.90 50.0 0.50 50.00 50.0 2.00 3.00"])
    assert rows[3][:6] == ["steep", "0.3", MISSING, "1", "2 to 5.4", "4"]
    assert " ".join(rows[3][6:]) == "1.00 50.0 0.50 50.00 75.0 0.50 0.50"
    assert [row[0] for row in rows[2:]] == ["`smooth-slopes-averaged`", "steep", "`elb-averaged`"]
    assert rows[4][1:6] == ["1", MISSING, "1", "1", MISSING]


def test_few_labels_are_means_over_folds_set_by_set():
    line = {"label": "elb", "dataset": "esl", "test_mae": 0.25, "rps_tempered": 0.5}
    other = line | {"dataset": "lev", "rps_tempered": 0.125}
    found = few_labels_table(pd.DataFrame([line | {"dataset": "fgnet"}, line, line | {"test_mae": 0.75}, other]))
    assert found.splitlines()[0] == "| MAE / RPS, tempered | esl | lev |"
    assert found.splitlines()[2:] == ["| `elb` | 0.500 / 0.500 | 0.250 / 0.125 |"]


def test_the_page_is_right_about_few_labels():
    few = EVERY[EVERY["dataset"] != "fgnet"].groupby(["dataset", "label"])[["rps_tempered", "nll_tempered"]].mean()
    first = [few.loc[name].idxmin() for name in few.index.levels[0] if name != "fgnet"]
    assert [sum(lowest[column] == "smooth-slopes" for lowest in first) for column in few] == [4, 5]
    assert "has the lowest RPS on four of the five and the lowest NLL on all" in PAGE


def test_every_form_of_the_file_was_run_on_four_splits():
    assert set(read_forms(ROOT / "benchmarks/barrier_variants.toml")) == set(MEANS.index)
    assert (RUNS.groupby("label")["split"].apply(sorted).map(tuple) == (0, 1, 2, 3)).all()


@pytest.mark.parametrize(
    ("said", "label", "column", "value"),
    [
        ("smoothed scores have an error of 3.63", "ce-barrier-0.1-smooth", "test_mae", 3.63),
        ("RPS and NLL after the temperature of 2.76 and 2.80", "ce-barrier-0.1-smooth", "rps_tempered", 2.76),
        ("only 63 % of posteriors have one peak", "ce-barrier-0.1-smooth", "test_unimodal", 0.63),
        ("the error is 3.68, RPS 2.75, NLL 2.81", "ce-slower-smooth-t5", "nll_tempered", 2.81),
        ("`smooth-elb` is at 4.86 at t = 1, 3.75 at t = 3", "ce-slow-smooth-t3", "test_mae", 3.75),
        ("the error is 3.75 and the tempered RPS 3.38", "rps-barrier-0.1", "rps_tempered", 3.38),
        ("61 % of pairs in order", "ce-barrier-mean", "test_soi_predicted", 0.61),
        ("(90 % instead of 74 %)", "ce-growing", "test_unimodal", 0.90),
    ],
)
def test_what_the_page_says_is_what_was_run(said, label, column, value):
    assert said in PAGE
    assert MEANS.loc[label, column] == pytest.approx(value, abs=0.0051)
