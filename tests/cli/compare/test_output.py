"""What `onepeak compare --dry-run` prints."""

import json
from pathlib import Path

import pytest

RELEASE = Path(__file__).parents[2] / "release_0_1" / "comparison" / "runs" / "elb" / "split0-fold0" / "result.json"


def flags_of(table, out, *more):
    shared = ["compare", table, "--label", "grade", "--methods", "ce,elb", "--folds", 1, "--epochs", 2]
    return (*shared, "--device", "cpu", "--out", out, "--dry-run", *more)


def test_a_dry_run_lists_every_run_with_its_cost_and_writes_nothing(table, tmp_path, run):
    status, output, errors = run(*flags_of(table, tmp_path / "out", "--methods", "ce,elb:t=2"))
    assert status == 0
    lines = [line.split("\t") for line in output.splitlines()]
    assert lines[0] == ["run", "state", "epochs", "steps", "samples", "about"]
    assert [line[:5] for line in lines[1:]] == [
        ["ce/split0-fold0", "open", "2", "2", "96"],
        ["elb-t-2/split0-fold0", "open", "2", "2", "96"],
    ]
    assert "2 runs, 2 to train: 4 steps, about" in errors
    assert not (tmp_path / "out").exists()

    status, output, _ = run(*flags_of(table, tmp_path / "out", "--json"))
    content = json.loads(output)
    assert [each["run"] for each in content["runs"]] == ["ce/split0-fold0", "elb/split0-fold0"]
    assert content["seconds"] == pytest.approx(sum(each["seconds"] for each in content["runs"]))
    assert content["seconds_with_workers"] <= content["seconds"]


def test_a_dry_run_of_many_runs_has_a_line_a_method_and_json_has_them_all(table, tmp_path, run):
    done = tmp_path / "out" / "runs" / "ce" / "split0-fold0" / "result.json"  # it also says how long a run takes
    done.parent.mkdir(parents=True)
    done.write_text(json.dumps(json.loads(RELEASE.read_text()) | {"seconds": 4.0, "epochs": 2}))
    (tmp_path / "out" / "config.toml").write_text("[record]\n")  # by which a comparison is known
    flags = flags_of(table, tmp_path / "out", "--protocol", "holdout", "--splits", 21)
    status, output, errors = run(*flags)
    assert status == 0, errors
    lines = [line.split("\t") for line in output.splitlines()]
    assert lines[0] == ["method", "runs", "to train", "steps", "samples", "about"]
    content = json.loads(run(*flags, "--json")[1])
    trained = {
        method: [each for each in content["runs"][1:] if each["run"].startswith(method)] for method in ("ce", "elb")
    }
    assert [len(each) for each in trained.values()] == [20, 21]
    assert lines[1:] == [
        [
            method,
            "21",
            str(len(each)),
            str(sum(one["steps"] for one in each)),
            f"{sum(one['trained'] for one in each):,}",
            f"1 min {len(each) * 4 - 60} s",
        ]
        for method, each in trained.items()
    ]
    assert "42 runs, 41 to train" in errors
    assert "--json lists every run." in errors
