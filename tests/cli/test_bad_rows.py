"""A table with bad cells, as `train`, `compare`, `evaluate` and `splits` meet it."""

import json

import pandas as pd
import pytest

import onepeak

BAD = {3: "big,0.1,3", 10: "0.5,0.2", 20: "1,2,0.3,0", 30: "0.5,0.1,", 40: "0.5,0.1,9", 50: "1e300,0.1,"}
"""Rows that take the place of good ones, by their position."""
LEFT_OUT = (
    "Note: left out 6 of 80 rows: more or fewer fields than the header (rows 12, 22); no number in 'size' (row 5); "
    "no usable number in 'size' (row 52); no label (rows 32, 52); a label that the order lacks, '9' (row 42)\n"
)


@pytest.fixture
def bad(table, tmp_path):
    """The table with six bad rows."""
    header, *rows = table.read_text().splitlines()
    rows = [BAD.get(place, row) for place, row in enumerate(rows)]
    (tmp_path / "grades.csv").write_text("\n".join([header, *rows]))
    return tmp_path / "grades.csv"


@pytest.fixture
def clean(table, tmp_path):
    """The table without these rows."""
    (tmp_path / "clean").mkdir()
    pd.read_csv(table).drop(index=list(BAD)).to_csv(tmp_path / "clean" / "grades.csv", index=False)
    return tmp_path / "clean" / "grades.csv"


def flags_of(command, table, out, *more):
    how = ("--label", "grade", "--order", "0..3", "--epochs", 2, "--device", "cpu", "--out", out)
    return (command, table, *how, *(("--method", "elb") if command == "train" else ("--methods", "elb")), *more)


@pytest.mark.bad_input
@pytest.mark.parametrize("command", ["train", "compare"])
def test_all_bad_cells_of_a_table_are_reported_at_once(run, bad, tmp_path, command):
    status, output, errors = run(*flags_of(command, bad, tmp_path / "out"))
    assert (status, output) == (2, "")
    first, *faults, last = errors.splitlines()
    assert first == f"onepeak: {bad}: 6 of 80 rows cannot be used as they are:"
    found = [
        "have 3 fields, like the header, but 2 rows do not: row 12 (2), row 22 (4)",
        "'size' has numbers except in 1 row: 'big' (row 5)",
        "'size' must be finite numbers that fit into float32, 1 row has none: 1e+300 (row 52)",
        "must have a label, 2 samples of 78 have none: rows 32, 52",
        "it lacks '9' (1 sample, row 42). It names 0, 1, 2, 3",
    ]
    assert all(part in line for part, line in zip(found, faults, strict=True)), errors
    assert last.startswith("Or leave the rows out with --skip-bad.")
    assert not (tmp_path / "out").exists()


def test_bad_rows_are_left_out_as_if_they_were_not_there(run, bad, clean, tmp_path):
    status, _, errors = run(*flags_of("train", bad, tmp_path / "out", "--skip-bad", "--logger", "none"))
    assert status == 0, errors
    assert errors.startswith(LEFT_OUT)
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["data"] == {"items": 74, "groups": None, "group_column": None, "left_out": 6}
    assert run(*flags_of("train", clean, tmp_path / "again", "--logger", "none"))[0] == 0
    one, other = (onepeak.load(tmp_path / name) for name in ("out", "again"))
    rows = pd.read_csv(clean)
    assert one.predict(rows).log_probs.tolist() == other.predict(rows).log_probs.tolist()

    status, output, errors = run("evaluate", tmp_path / "out", bad, "--order", "0..3", "--skip-bad", "--json")
    assert status == 0, errors
    note, *_ = json.loads(output)["notes"]
    assert note.startswith(
        "left out 6 of 80 rows: more or fewer fields than the header (rows 12, 22); no usable number in 'size'"
    )
    assert json.loads(output)["items"] == 74
    status, output, errors = run("splits", bad, "--label", "grade", "--order", "0..3", "--skip-bad", "--json")
    assert (status, json.loads(output)["items"]) == (0, 74), errors


def test_a_comparison_leaves_them_out_too_and_its_report_says_so(run, bad, tmp_path, here):
    flags = flags_of("compare", bad, tmp_path / "out", "--skip-bad", "--folds", 1)
    status, _, errors = run(*flags)
    assert status == 0, errors
    assert LEFT_OUT in errors
    assert "74 samples; 6 samples left out by --skip-bad" in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert run(*flags)[0] == 0  # the runs are found again
    page, differ = tmp_path / "out" / "report.html", "The data differ from those of the runs"
    assert differ not in page.read_text(encoding="utf-8")
    bad.write_text(bad.read_text().replace("big", "0.5"))
    assert run("report", tmp_path / "out")[0] == 0
    assert differ in page.read_text(encoding="utf-8")


@pytest.mark.bad_input
def test_a_table_that_is_mostly_bad_is_refused_with_the_flag(run, table, tmp_path):
    path = tmp_path / "grades.csv"
    pd.read_csv(table).assign(grade=[None] * 41 + [0, 1, 2] * 13).to_csv(path, index=False)
    status, _, errors = run(*flags_of("train", path, tmp_path / "out", "--skip-bad"))
    assert status == 2
    assert "With --skip-bad at most half of the rows may be left out, not 41 of 80 rows." in errors
