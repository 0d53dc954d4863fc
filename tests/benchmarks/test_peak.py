"""The figures of results/peak are those of its records."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

FOLDER = Path(__file__).parents[2] / "results/peak"
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line[:1] == "|"]


def read(name):
    return pd.read_csv(FOLDER / f"{name}.csv").rename(columns={"data": "dataset"})


def cells_of(title):
    (cells,) = [cells for name, *cells in ROWS if name == title]
    return cells


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("squared questions, outputs averaged over neighbours (`smooth-slopes`)", "smooth-slopes"),
        ("squared questions, one Gaussian of 3 % of the range", "squared-gaussian"),
        ("squared questions (`slopes`)", "squared"),
        ("cross-entropy and barrier, scores averaged in the same way", "elb-harmonic1"),
        ("cross-entropy and barrier (`elb`)", "elb"),
        ("logistic questions", "logistic"),
    ],
)
def test_a_form_of_slopes_has_the_means_of_its_first_two_splits(title, label):
    runs = read("slopes").query("dataset == 'fgnet' and split < 2 and label == @label")
    means = runs[["valid_mae", "test_mae", "test_unimodal"]].mean()
    assert len(runs) == 2
    assert cells_of(title) == [*(f"{value:.2f}" for value in means[:2]), f"{100 * means.iloc[2]:.1f} %"]


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("cross-entropy, RPS, t = 5, small steps", "rps-ce-slower-smooth-t5"),
        ("cross-entropy, RPS, t = 3, small steps", "rps-ce-slower-smooth-t3"),
        ("cross-entropy, t = 5, small steps", "ce-slower-smooth-t5"),
        ("cross-entropy, a tenth of the barrier, t = 1", "ce-barrier-0.1-smooth"),
        ("cross-entropy, t = 3, small steps", "ce-slower-smooth-t3"),
        ("cross-entropy, t = 5", "ce-smooth-t5"),
        ("RPS, t = 5, scores not averaged", "rps-t5"),
        ("cross-entropy, t = 1, a tenth of the steps", "ce-slow-smooth"),
    ],
)
def test_a_form_of_the_barrier_has_the_means_of_its_four_splits(title, label):
    runs = read("barrier").query("dataset == 'fgnet' and label == @label")
    mae, error, peaks, rps = runs[["valid_mae", "test_mae", "test_unimodal", "rps_tempered"]].mean()
    assert len(runs) == 4
    assert cells_of(title) == [f"{mae:.2f}", f"{error:.2f}", f"{100 * peaks:.1f} %", f"{rps:.2f}"]


def test_what_is_said_of_3_to_100_classes_is_what_was_measured():
    errors = read("labels").groupby(["dataset", "labels", "method"])[["mae", "rps_tempered"]].mean()
    over = errors / errors.groupby(["dataset", "labels"]).min() - 1
    mean, most = 100 * np.expm1(np.log1p(over).groupby("method").mean()), 100 * over.groupby("method").max()
    parts = "smooth-rps+elb:weight=1:cross_entropy_weight=1:t=3:decision=mode"
    for method in ("smooth-slopes", "po", parts, "slopes", "smooth-elb", "elb", "corn", "ce"):
        title = "`peak`, by its parts" if method == parts else f"`{method}`"
        assert cells_of(title) == [f"{mean.mae[method]:.1f} %", f"{most.mae[method]:.1f} %"]
    assert most.mae.idxmin() == "smooth-slopes"
    assert most.mae.drop("smooth-slopes").idxmin() == parts


def test_the_records_have_as_many_forms_as_the_page_says():
    for name in ("slopes", "barrier"):
        count = read(name).query("dataset == 'fgnet'").label.nunique()
        assert f"{count} forms on " in PAGE
