"""What results/fgnet-slopes says is what its committed runs say."""

import json
from pathlib import Path
from statistics import mean

import pandas as pd
import pytest

RESULTS = Path(__file__).parents[2] / "results"
PAGE = (RESULTS / "fgnet-slopes/README.md").read_text(encoding="utf-8")
RUNS = pd.read_csv(RESULTS / "fgnet-slopes/runs.csv").set_index(["dataset", "label"]).sort_index()

LABELS = {
    "**smooth-slopes**": "smooth-slopes",
    "squared, Gaussians of five widths": "squared-pyramid",
    "squared, a little barrier (.02)": "squared-barrier",
    "squared, weights (1 + distance)^-2": "squared-harmonic2",
    "squared, one Gaussian of 3 %": "squared-gaussian",
    "squared (`slopes`)": "squared",
    "squared, RPS .3 in place of cross-entropy": "squared-rps",
    "arcsine": "arcsine",
    "squared, (1 + distance)^-1, no cross-entropy": "squared-harmonic1-ce0",
    "squared, (1 + distance)^-1": "squared-harmonic1",
    "arcsine, (1 + distance)^-1": "arcsine-harmonic1",
    "CE + ELB of scores smoothed so": "elb-harmonic1",
    "squared, ten times the cross-entropy": "squared-ce1",
    "CE + ELB (`elb`)": "elb",
    "logistic": "logistic",
    "logistic, Gaussians of five widths": "logistic-pyramid",
    "logistic, (1 + distance)^-1": "logistic-harmonic1",
}
COLUMNS = ["valid_mae", "test_mae", "test_soi_predicted", "test_unimodal", "rps_tempered", "nll_tempered"]
SCALES = [1, 1, 100, 100, 1, 1]


def rows_of(heading):
    """The cells of the table that begins with a heading, one list a row."""
    lines = PAGE[PAGE.index(heading) :].split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


FGNET = {name: cells for name, *cells in rows_of("| variant |")}


def test_every_form_that_was_run_is_in_the_table():
    assert set(FGNET) == set(LABELS)
    assert set(LABELS.values()) == set(RUNS.loc["fgnet"].index)


def test_a_row_is_the_mean_of_its_first_two_splits():
    for name in LABELS:
        runs = RUNS.loc[("fgnet", LABELS[name])].sort_values("split")
        for cell, column, scale in zip(FGNET[name], COLUMNS, SCALES, strict=False):
            digits = len(cell.strip("*").partition(".")[2])
            found = scale * runs[runs.split < 2][column].mean()
            assert float(cell.strip("*")) == pytest.approx(found, abs=0.51 * 10**-digits), column
        assert [float(error) for error in FGNET[name][-1].split()] == pytest.approx(runs.test_mae.to_list(), abs=0.0051)


def test_the_table_is_sorted_by_the_validation_error():
    errors = [float(cells[0].strip("*")) for cells in FGNET.values()]
    assert errors == sorted(errors)


@pytest.mark.parametrize("dataset", ["biopsies", "esl", "lev", "swd", "balance-scale"])
def test_few_labels_are_the_mean_over_folds(dataset):
    (cells,) = [cells for cells in rows_of("| | labels |") if cells[0] == dataset]
    means = RUNS.loc[dataset.replace("-", "_")].groupby("label").test_mae.mean()
    said = [float(cell.strip("*")) for cell in cells[2:7]]
    labels = ["smooth-slopes", "squared-pyramid", "squared", "logistic", "arcsine"]
    assert said == pytest.approx(means[labels].to_list(), abs=0.00051)
    lowest, highest = map(float, cells[7].split(" to "))
    assert (lowest, highest) == pytest.approx((means.min(), means.max()), abs=0.00051)


def test_slopes_trained_for_another_comparison_has_the_errors_named_here():
    folder = RESULTS / "fgnet-posteriors/runs/slopes"
    metrics = [json.loads((folder / f"split{split}-fold0/result.json").read_text())["metrics"] for split in range(4)]
    assert "has 3.72 on the validation parts of splits 0 and 1 where this table has 3.85" in PAGE
    assert mean(found["valid"]["mae"] for found in metrics[:2]) == pytest.approx(3.72, abs=0.005)
    assert "4.15 on four test parts instead of 4.24" in PAGE
    assert mean(found["test"]["mae"] for found in metrics) == pytest.approx(4.15, abs=0.005)
    assert RUNS.loc[("fgnet", "squared")].test_mae.mean() == pytest.approx(4.24, abs=0.005)
