"""`--patience`, as `train` and `compare` meet it."""

import json

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
