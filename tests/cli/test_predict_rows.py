"""`onepeak predict` with a model of tables: every row has its answer or its reason."""

import csv
import io
import json
from functools import partial

import pytest

from cli.one_command import invoked
from onepeak.cli import predict as command
from onepeak.errors import InputError
from onepeak.serving import load
from trained_models import table_run

ON_CPU = "--device=cpu"


@pytest.fixture
def run():
    """Runs `onepeak predict`."""
    return partial(invoked, command.predict)


def test_a_table_model_takes_a_file_and_names_its_lines(run, tmp_path):
    (tmp_path / "rows.csv").write_text("tone,size\n1,0.5\ndark,\npale,2\n")
    result = run(table_run().folder, tmp_path / "rows.csv", "--json", ON_CPU)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    said = load(table_run().folder).predict({"size": [0.5, None, 2.0], "tone": ["1", "dark", None]})
    assert [row["line"] for row in rows] == [2, 3, 4]
    assert [row["log_probs"] for row in rows] == said.log_probs.tolist()
    assert result.stderr == (
        "Note: 1 name of the column 'tone' not seen in training, taken as missing: pale\n"
        "Note: missing values in 2 of 3 rows, filled in as in training\n"
        "Note: unlike the training data, do not rely on such predictions: 1 of 3 rows, by tone (1): line 4\n"
    )
    assert [row["unlike"] for row in rows] == [[], [], ["tone"]]
    assert run(table_run().folder, tmp_path / "rows.csv", "--quiet", ON_CPU).stderr == ""


BAD_ROWS = "id,tone,size,note\na1,1,0.5,x\na2,dark,big,y\n03,,,\na4,2,2,7\n"


def test_bad_and_empty_rows_of_a_table_say_so_and_the_others_are_answered(run, tmp_path):
    (tmp_path / "rows.csv").write_text(BAD_ROWS)
    printed = run(table_run().folder, tmp_path / "rows.csv", "--csv", ON_CPU)
    rows = list(csv.DictReader(io.StringIO(printed.stdout)))
    said = load(table_run().folder).predict({"size": [0.5, 2.0], "tone": ["1", "2"]})
    assert printed.exit_code == 0
    assert [row["line"] for row in rows] == ["2", "3", "4", "5"]
    assert [row["label"] for row in rows] == [
        str(said.predicted_index[0].item()),
        "",
        "",
        str(said.predicted_index[1].item()),
    ]
    wrong, empty = "`size` must be a number, got 'big'", "it has no value in any column of the model"
    assert [row["error"].partition(" (")[0] for row in rows] == ["", wrong, empty, ""]
    assert printed.stderr.startswith(
        "Note: 1 row without any value: line 4\n"
        "onepeak: 2 of 4 have no prediction; the error column says why.\n"
        f"  line 3: {wrong}\n"
        f"  line 4: {empty}"
    )
    written = run(table_run().folder, tmp_path / "rows.csv", "--out", tmp_path / "answers.json", ON_CPU)
    found = [json.loads(line) for line in (tmp_path / "answers.json").read_text().splitlines()]
    assert written.stderr == f"{printed.stderr}predictions: {tmp_path / 'answers.json'}\n"
    assert found[1] == {**dict.fromkeys(found[0]), "line": 3, "error": wrong}


@pytest.mark.parametrize("flags", [("--keep", "id,note"), ("--keep", "id", "--keep", "note")])
def test_columns_of_a_table_are_kept_beside_answers_and_errors(run, tmp_path, flags):
    (tmp_path / "rows.csv").write_text(BAD_ROWS)
    result = run(table_run().folder, tmp_path / "rows.csv", "--csv", *flags, ON_CPU)
    header, *rows = csv.reader(io.StringIO(result.stdout))
    assert header[:5] == ["line", "id", "note", "headline", "predicted_class"]
    assert [row[:3] for row in rows] == [["2", "a1", "x"], ["3", "a2", "y"], ["4", "03", ""], ["5", "a4", "7"]]
    plain = run(table_run().folder, tmp_path / "rows.csv", "--csv", ON_CPU).stdout
    assert [[row[0], *row[3:]] for row in (header, *rows)] == list(csv.reader(io.StringIO(plain)))


@pytest.mark.parametrize(
    ("row", "doubt"),
    [
        ("1,", None),
        ("pale,999", "1 of 2 rows, by size (1), tone (1): line 3"),
    ],
)
def test_strict_fails_where_a_row_is_unlike_the_training_and_not_where_a_value_is_missing(run, tmp_path, row, doubt):
    (tmp_path / "rows.csv").write_text(f"tone,size\n1,0.5\n{row}\n")
    result = run(table_run().folder, tmp_path / "rows.csv", "--csv", "--strict", "--quiet", ON_CPU)
    assert result.exit_code == (doubt is not None)
    _, *cells = [row["unlike"] for row in csv.DictReader(io.StringIO(result.stdout))]
    assert cells == ["; ".join(name for name in ("size", "tone") if name in (doubt or ""))]
    told = (
        f"Note: unlike the training data, do not rely on such predictions: {doubt}\n"
        "onepeak: exit status 1 (--strict): a prediction is missing or an input is unlike the training.\n"
    )
    assert result.stderr == (told if doubt else "")


@pytest.mark.parametrize("how", ["worst", "mean", "median"])
def test_the_rows_of_a_group_have_one_answer(run, tmp_path, how):
    (tmp_path / "rows.csv").write_text("patient,tone,size\nann,1,0.5\nann,2,2.1\nben,dark,1.0\nann,,\n")
    flags = ("--group", "patient", "--combine", how, "--csv", ON_CPU)
    result = run(table_run().folder, tmp_path / "rows.csv", *flags)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    single = load(table_run().folder).predict({"tone": ["1", "2", "dark"], "size": [0.5, 2.1, 1.0]})
    expected = single.combined(["ann", "ann", "ben"], how)
    assert [row["group"] for row in rows] == ["ann", "ben"]
    assert [row["predicted_class"] for row in rows] == list(expected.predicted_class)
    assert f"the {how} of 3 samples in 2 groups" in result.stderr
    assert "1 sample without a prediction left out of the groups" in result.stderr


def test_a_group_none_of_whose_rows_has_a_prediction_says_why(run, tmp_path):
    (tmp_path / "rows.csv").write_text("patient,tone,size\nann,,\nben,dark,1.0\nann,1,big\n")
    flags = ("--group", "patient", "--combine", "mean", "--csv", "--strict", ON_CPU)
    result = run(table_run().folder, tmp_path / "rows.csv", *flags)
    ann, ben = csv.DictReader(io.StringIO(result.stdout))
    assert (ann["group"], ann["error"][:8], ben["group"], ben["error"]) == ("ann", "line 2: ", "ben", "")
    assert "the mean of 1 sample in 1 group\n" in result.stderr
    assert "1 of 2 have no prediction" in result.stderr
    assert result.exit_code == 1
    (tmp_path / "rows.csv").write_text("patient,tone,size\nann,,\n")
    assert run(table_run().folder, tmp_path / "rows.csv", *flags[:-2], ON_CPU).exit_code == 1
    (tmp_path / "rows.csv").write_text("patient,tone,size\nann,1,0.5\nann,,\n")
    for strict in ([], ["--strict"]):
        result = run(
            table_run().folder, tmp_path / "rows.csv", "--group", "patient", "--csv", "--quiet", ON_CPU, *strict
        )
        assert (result.exit_code, "left out of the groups, first line 3: " in result.stderr) == (len(strict), True)


@pytest.mark.bad_input
def test_rows_without_a_group_and_flags_without_a_use_are_refused(run, tmp_path):
    (tmp_path / "rows.csv").write_text("patient,tone,size\nann,1,0.5\n,2,2.1\n ,dark,1.0\n")
    grouped = ("--group", "patient")
    for flags, message in (
        (grouped, "got 2 samples without one: give each its own group"),
        ((*grouped, "--keep", "tone"), "`--keep` does nothing with --group"),
        ((*grouped, "--combine", "mean", "--decide", "median"), "`decide` has no effect if `combine` is 'mean'"),
        ((*grouped, "--combine", "mean", "--project"), "`project` has no effect if `combine` is 'mean'"),
    ):
        with pytest.raises(InputError, match=message):
            run(table_run().folder, tmp_path / "rows.csv", *flags, ON_CPU)
