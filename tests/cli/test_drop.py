"""A column to leave out, as `train`, `compare`, `splits`, `predict` and `evaluate` meet it."""

import json

import pandas as pd
import pytest

import onepeak

LOOK = ("--label", "grade", "--epochs", 2, "--device", "cpu")
HINT = "Note: a different value in every row, as ids have, in policy: leave ids out with `drop` (--drop COLUMN)"


@pytest.fixture
def policies(table, tmp_path):
    """The table with an id in every row, in no order, and a column that cannot be read."""
    rows = pd.read_csv(table)
    ids = [1000 + 7 * place % len(rows) for place in range(len(rows))]
    rows.assign(policy=ids, odd=["inf", *["1"] * (len(rows) - 1)]).to_csv(tmp_path / "policies.csv", index=False)
    return tmp_path / "policies.csv"


def test_train_takes_it_and_the_model_does_not_ask_for_it(run, policies, tmp_path):
    train = ("train", policies, "--method", "ce", *LOOK, "--logger", "none", "--drop", "odd")
    status, _, errors = run(*train, "--out", tmp_path / "with")
    assert (status, errors.count(HINT)) == (0, 1), errors
    status, _, errors = run(*train, "--drop", "policy", "--out", tmp_path / "without")
    assert (status, errors.count(HINT)) == (0, 0), errors
    model = onepeak.load(tmp_path / "without")
    assert model.description.table.columns == ("size", "tone")

    pd.read_csv(policies).drop(columns=["policy", "odd"]).to_csv(tmp_path / "bare.csv", index=False)
    said = []
    for file in (policies, tmp_path / "bare.csv"):
        status, output, errors = run("predict", tmp_path / "without", file, "--json", "--device", "cpu")
        assert status == 0, errors
        said.append([json.loads(line)["label"] for line in output.splitlines()])
        status, output, errors = run("evaluate", tmp_path / "without", file, "--json", "--device", "cpu")
        assert status == 0, errors
        assert json.loads(output)["items"] == 80
    assert said[0] == said[1]
    status, _, errors = run(*train, "--out", tmp_path / "without", "--resume")
    assert (status, "holds a finished run with no columns policy: give another --out" in errors) == (2, True), errors


def test_compare_takes_it_and_its_report_opens_the_same_data(run, policies, tmp_path, here):
    flags = ("compare", policies, "--methods", "ce", *LOOK, "--folds", 1, "--out", tmp_path / "out", "--drop", "odd")
    status, _, errors = run(*flags, "--drop", "policy")
    assert status == 0, errors
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "The data differ from those of the runs" not in page
    status, _, errors = run(*flags)
    assert status == 2
    assert "the data differ (drop is ['odd', 'policy'] there and ['odd'] here)" in errors


def test_splits_takes_it(run, policies):
    flags = ("splits", policies, "--label", "grade", "--protocol", "holdout", "--splits", 1)
    status, output, errors = run(*flags, "--drop", "odd", "--drop", "policy")
    assert status == 0, errors
    assert "read as numbers: size, tone\n" in output + errors
