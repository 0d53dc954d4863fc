"""Folders that version 0.1 wrote, in `release_0_1`, open in this version and mean the same."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import onepeak
from in_process import Here
from onepeak.cli import main
from onepeak.cli.compare import run
from onepeak.errors import InputError
from onepeak.experiment.results import read_history, read_predictions, read_results
from onepeak.training.out_folder import FORMAT

OLD = Path(__file__).with_name("release_0_1")
COMPARISON, GRADES = OLD / "comparison", OLD / "grades.csv"
MODEL = COMPARISON / "runs" / "elb" / "split0-fold0"


def test_a_model_predicts_what_it_predicted():
    predicted = onepeak.load(MODEL).predict(GRADES)
    before = [json.loads(line) for line in (OLD / "predictions.json").read_text().splitlines()]
    rows = list(predicted.rows())[: len(before)]
    assert [(row.predicted_index, row.lower, row.upper) for row in rows] == [
        (row["label"], row["lower"], row["upper"]) for row in before
    ]
    np.testing.assert_allclose([row.log_probs for row in rows], [row["log_probs"] for row in before], atol=1e-5)


def test_a_model_of_images_has_the_same_weights_by_name_and_shape(tmp_path):
    """Its weights themselves are too large to be kept here."""
    shapes = json.loads((OLD / "image-model" / "weights.json").read_text())
    shutil.copy(OLD / "image-model" / "onepeak.json", tmp_path)
    save_file({name: torch.rand(shape) for name, shape in shapes.items()}, tmp_path / "model.safetensors")
    predicted = onepeak.load(tmp_path).predict(np.zeros((2, 96, 96, 3), np.uint8))
    assert predicted.log_probs.exp().sum(dim=-1) == pytest.approx([1, 1], abs=1e-5)


def test_the_runs_of_a_comparison_are_read():
    results = read_results(COMPARISON).set_index(["label", "split"])
    assert results["test_mae"].round(4).to_dict() == {
        ("ce", 0): 0.2083,
        ("ce", 1): 0.25,
        ("elb", 0): 0.375,
        ("elb", 1): 0.25,
    }
    assert len(read_history(MODEL)) == 5
    assert read_predictions(MODEL, part="test")["log_probs"].shape == (24, 3)


def test_a_comparison_goes_on_where_it_stopped(tmp_path, monkeypatch):
    folder = shutil.copytree(OLD, tmp_path / "old") / "comparison"
    shutil.rmtree(folder / "runs" / "ce" / "split1-fold0")
    kept = (folder / "runs" / "elb" / "split0-fold0" / "result.json").read_bytes()
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(run, "executor_of", lambda *_, **__: Here())
    monkeypatch.setitem(sys.modules, "jinja2", None)  # the page takes seconds
    grades = "grades.csv --label grade --group person --order mild,moderate,severe"
    same = "--methods ce,elb --protocol holdout --splits 2 --epochs 5 --network hidden=8 --device cpu"
    monkeypatch.setattr(sys, "argv", ["onepeak", "compare", *grades.split(), *same.split(), "--out", "comparison"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    assert len(read_results(folder)) == 4
    assert (folder / "runs" / "elb" / "split0-fold0" / "result.json").read_bytes() == kept


@pytest.mark.parametrize("file", ["result.json", "onepeak.json"])
def test_a_run_in_a_later_format_is_refused(file, tmp_path):
    shutil.copytree(MODEL, tmp_path / "run")
    content = json.loads((tmp_path / "run" / file).read_text())
    (tmp_path / "run" / file).write_text(json.dumps({**content, "format": FORMAT + 1}))
    with pytest.raises(InputError, match=rf"{file} (is|must be) of format"):
        read_results(tmp_path / "run") if file == "result.json" else onepeak.load(tmp_path / "run")
