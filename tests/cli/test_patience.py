"""`--patience`, as `train` and `compare` meet it."""

import json

import pandas as pd

LOOK = ("--label", "grade", "--epochs", 60, "--device", "cpu", "--patience", 2)


def result_of(folder):
    return json.loads((folder / "result.json").read_text())


def test_train_stops_early_and_says_when(run, table, tmp_path):
    flags = ("train", table, "--method", "ce", *LOOK, "--logger", "none", "--out", tmp_path / "model")
    status, output, errors = run(*flags)
    assert status == 0, errors
    assert "mlp, at most 60 epochs, cpu" in errors
    result = result_of(tmp_path / "model")
    assert result["stopped_early"]
    assert result["epochs"] == result["best_epoch"] + 3
    assert (
        f"epoch {result['best_epoch'] + 1} of {result['epochs']} kept, stopped after 2 without a better one," in output
    )
    status, output, errors = run(*flags[:-1], tmp_path / "model", "--resume", "--patience", 3)
    assert (status, "holds a finished run with patience = 2, not 3" in errors) == (2, True), errors


def test_compare_takes_it_from_a_file_and_its_report_says_how_many_stopped(run, table, tmp_path, here):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"data = {str(table)!r}\nlabel = 'grade'\nmethods = ['ce', 'elb']\nfolds = 1\n"
        "[recipe]\nepochs = 60\npatience = 2\n"
    )
    status, _, errors = run("compare", plan, "--device", "cpu", "--out", tmp_path / "out")
    assert status == 0, errors
    assert "2 runs of at most 60 epochs" in errors
    for method in ("ce", "elb"):
        run_folder = tmp_path / "out" / "runs" / method / "split0-fold0"
        assert result_of(run_folder)["stopped_early"]
        assert len(pd.read_csv(run_folder / "history.csv")) < 60
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "at most 60; 2 of 2 runs stopped early" in page
