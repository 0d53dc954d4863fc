"""`onepeak compare` as its user meets it. Where no process is needed, runs are trained in this one.

Long because one command has many ways to be refused, stopped and continued.
"""

import json
import os
import shutil
import signal
import time

import numpy as np
import pytest
import torch
from PIL import Image

from forked import Forked


def flags_of(table, out, *more):
    shared = ["compare", table, "--label", "grade", "--methods", "ce,elb", "--folds", 1, "--epochs", 2]
    return [str(flag) for flag in (*shared, "--device", "cpu", "--out", out, *more)]


def test_stopped_by_control_c_it_says_how_to_go_on_and_does(table, tmp_path, run, here):
    out = tmp_path / "out"
    long = flags_of(table, out, "--epochs", 4000, "--workers", 1)
    process = Forked("onepeak", *long)
    try:
        end = time.monotonic() + 200
        while not list(out.rglob("checkpoint.pt")):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does for Ctrl-C
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, output) == (1, ""), errors
    assert "Stopped: 0 of 2 runs are finished; run the same command to resume." in errors
    assert not list(out.rglob("*.part"))
    assert not list(out.rglob("error.json"))

    epochs = torch.load(next(out.rglob("checkpoint.pt")), weights_only=True)["epoch"]
    assert 0 < epochs < 4000
    status, _, errors = run(*flags_of(table, out, "--epochs", 3))
    assert status == 2
    assert "holds another experiment: recipe.epochs is 4000 there and 3 here" in errors


def test_the_table_is_printed_and_everything_is_in_the_folder(table, tmp_path, run, here):
    status, output, errors = run(*flags_of(table, tmp_path / "out"))
    assert status == 0, errors
    assert [line.split("\t")[:3] for line in output.splitlines()] == [
        ["dataset", "method", "runs"], ["grades", "ce", "1"], ["grades", "elb", "1"],
    ]  # fmt: skip
    assert "2 methods on 1 split of grades (80 samples, 4 classes), 2 runs of 2 epochs, mlp" in errors
    assert "ce/split0-fold0: MAE" in errors
    assert "(2 of 2 runs done)" in errors
    assert "- Consistency: with ELB" in errors  # what was found, in words
    assert f"\nreport: {tmp_path / 'out' / 'report.html'}\nNext: onepeak inspect" in errors
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"config.toml", "runs", "table.csv", "table.md", "table.tex", "report.html"} <= names
    result = json.loads((tmp_path / "out" / "runs" / "elb" / "split0-fold0" / "result.json").read_text())
    assert (result["label"], result["epochs"]) == ("elb", 2)

    status, _, errors = run(*flags_of(table, tmp_path / "out", "--quiet"))
    assert (status, errors) == (0, "")  # nothing is left to do, and nothing is said of it


def test_the_table_can_be_against_a_row_that_the_folder_has_already(table, tmp_path, run, here):
    out = tmp_path / "out"
    assert run(*flags_of(table, out, "--methods", "ce", "--quiet"))[0] == 0
    status, _, errors = run(*flags_of(table, out, "--methods", "elb", "--quiet", "--against", "ce"))
    assert (status, errors) == (0, "")
    assert "too few runs to name a winner" in (out / "table.md").read_text()
    status, output, errors = run(*flags_of(table, out, "--methods", "elb", "--against", "ec", "--dry-run"))
    assert (status, output) == (2, "")
    assert "Unknown row for `--against` 'ec'. Known: elb, ce." in errors


def test_rare_classes_can_be_made_to_count_for_all_methods_or_for_one(table, tmp_path, run, here, no_pages):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'data = "{table}"\nlabel = "grade"\nfolds = 1\nrecipe = {{ epochs = 1 }}\n'
        'methods = ["ce", { name = "ce", recipe = { class_weight = [1, 2, 3, 4] }, label = "own" }]'
    )
    out = tmp_path / "out"
    status, _, errors = run("compare", plan, "--class-weight", "balanced", "--device", "cpu", "--out", out)
    assert status == 0, errors
    results = [json.loads((out / "runs" / name / "split0-fold0" / "result.json").read_text()) for name in ("ce", "own")]
    assert [result["class_weight"] for result in results] == [[1, 1, 1, 1], [1, 2, 3, 4]]  # 12 of each to train on
    assert 'class_weight = "balanced"' in (out / "config.toml").read_text()
    status, _, errors = run("compare", out, "--device", "cpu", "--class-weight", "1,1,1,1")
    assert "recipe.class_weight is 'balanced' there and [1, 1, 1, 1] here" in errors


def test_given_the_folder_of_a_comparison_it_goes_on_with_that(table, tmp_path, run, here, no_pages):
    out = tmp_path / "out"
    assert run(*flags_of(table, out))[0] == 0
    lost = out / "runs" / "elb" / "split0-fold0"
    before = (lost / "model.safetensors").read_bytes()
    shutil.rmtree(lost)
    status, output, errors = run("compare", out, "--device", "cpu", "--dry-run")
    assert (status, [line.split("\t")[1] for line in output.splitlines()]) == (0, ["state", "finished", "open"]), errors
    status, _, errors = run("compare", out, "--device", "cpu")
    assert status == 0, errors
    assert "1 run was finished before" in errors
    assert (lost / "model.safetensors").read_bytes() == before

    status, _, errors = run("compare", out, "--device", "cpu", "--epochs", 3)
    assert status == 2
    assert f"`--out` {out} holds another experiment: recipe.epochs is 2 there and 3 here" in errors


def test_a_dry_run_tells_the_notes_of_the_run(tmp_path, run, no_pages, here):
    for number, pixels in enumerate(np.random.default_rng(0).integers(0, 255, (40, 8, 8, 3), np.uint8)):
        place = tmp_path / "pictures" / f"grade{number % 2}"
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(place / f"{number}.png")
    (tmp_path / "pictures" / "notes.txt").write_text("not an image")
    words = ("compare", tmp_path / "pictures", "--methods", "ce", "--folds", 1, "--epochs", 1, "--device", "cpu")
    words = (*words, "--order", "grade0,grade1", "--backbone", "resnet10t", "--out", tmp_path / "out")
    status, _, errors = run(*words, "--dry-run")
    assert status == 0, errors
    told = [line for line in errors.splitlines() if line.startswith("Note: ")]
    assert any("ignored 1 file that is not an image (notes.txt)" in line for line in told)
    assert any("resnet10t starts from random weights" in line for line in told)
    status, _, errors = run(*words)
    assert status == 0, errors
    assert set(told) <= set(errors.splitlines())
    status, _, errors = run(*words, "--dry-run", "--quiet")
    assert status == 0
    assert "Note: " not in errors


def test_a_run_that_fails_is_named_with_its_file_and_json_tells_the_means_of_the_others(table, tmp_path, run, here):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'data = "{table}"\nlabel = "grade"\nfolds = 2\nrecipe = {{ epochs = 2 }}\n'
        'methods = ["elb", { name = "ce", recipe = { lr = 1e30, batch_size = 16 }, label = "wild" }]'
    )
    status, output, errors = run("compare", plan, "--out", tmp_path / "out", "--device", "cpu", "--quiet", "--json")
    assert status == 1
    file = str(tmp_path / "out" / "runs" / "wild" / "split0-fold0" / "error.json")
    assert "2 of 4 runs failed: wild/split0-fold0, wild/split0-fold1. The first: The loss is not a number" in errors
    assert file in errors
    assert errors.count("\n") == 1

    content = json.loads(output)
    first = content["failed"][0]
    assert (first["label"], first["run"], f"{first['folder']}/error.json") == ("wild", "split0-fold0", file)
    assert {row["method"] for row in content["summary"]} == {"elb"}
    assert content["page"] == str(tmp_path / "out" / "report.html")
    runs = [json.loads(path.read_text()) for path in (tmp_path / "out").rglob("runs/elb/*/result.json")]
    errors_of_runs = [each["metrics"]["test"]["mae"] for each in runs]
    mae = next(row for row in content["summary"] if row["metric"] == "mae")
    assert mae["n"] == len(runs) == 2
    assert mae["mean"] == pytest.approx(np.mean(errors_of_runs))
    assert mae["std"] == pytest.approx(np.std(errors_of_runs, ddof=1))

    again = ("--against", "wild", "--out", tmp_path / "out", "--device", "cpu", "--quiet", "--json")
    status, output, errors = run("compare", plan, *again)
    assert "Note: no run of wild is finished, so --against and --alone are ignored." in errors
    assert {row["against"] for row in json.loads(output)["summary"]} == {None}

    flags = ("--methods", "wild", "--out", tmp_path / "wild", "--device", "cpu", "--quiet", "--json")
    status, output, _ = run("compare", plan, *flags)
    content = json.loads(output)
    assert (status, content["summary"], content["page"], len(content["failed"])) == (1, [], None, 2)
