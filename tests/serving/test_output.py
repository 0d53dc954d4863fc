import csv
import datetime
import io
import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from onepeak.errors import InputError
from onepeak.serving import Row
from onepeak.serving.actions import action_of
from onepeak.serving.output import (
    OutputColumns,
    PassthroughColumns,
    passthrough_columns,
    write_csv,
    write_json_lines,
)

ROWS = [
    Row(
        source='say "a", b.png',
        predicted_index=1,
        predicted_class="hohe Stufe, 2",
        lower=0,
        upper=1,
        lower_name="low",
        upper_name="hohe Stufe, 2",
        log_probs=(-math.inf, 0.0),
        soi=1.0,
        unimodal=True,
        paradoxical=False,
        unlike=("contrast", "grain"),
    ),
    Row(source="c.png", error="cut off\nor damaged"),
]


CLASSES = ("low", "hohe Stufe, 2")
PREDICTED = ["headline", "predicted_class", "predicted_index", "name", "label"]
NAMES = [*PREDICTED, "lower_name", "upper_name", "lower", "upper"]
FLAGS = ["soi", "unimodal", "paradoxical", "unlike", "distance", "refer", "error"]


def written(writer, rows=ROWS, **columns):
    """What comes back of the rows: of CSV as text."""
    file = io.StringIO()
    writer(rows, file, OutputColumns(**{"source_name": "path", "classes": CLASSES, **columns}))
    if writer is write_csv:
        return list(csv.DictReader(io.StringIO(file.getvalue())))
    return [json.loads(line) for line in file.getvalue().splitlines()]


def test_csv_comes_back_as_it_was_written():
    first, second = written(write_csv)
    posterior = {"p_low": "0.0", "p_hohe Stufe, 2": "1.0", "log_prob_low": "-inf", "log_prob_hohe Stufe, 2": "0.0"}
    assert list(first) == ["path", *NAMES, *FLAGS, *posterior]
    assert first == {
        **dict.fromkeys(first, ""),
        "path": 'say "a", b.png',
        "headline": "between low and hohe Stufe, 2",
        **dict.fromkeys(("predicted_class", "name", "upper_name"), "hohe Stufe, 2"),
        **dict.fromkeys(("predicted_index", "label", "upper"), "1"),
        "lower": "0",
        "lower_name": "low",
        "soi": "1.0",
        "unimodal": "True",
        "paradoxical": "False",
        "unlike": "contrast; grain",
        **posterior,
    }
    assert {name: value for name, value in second.items() if value} == {"path": "c.png", "error": "cut off\nor damaged"}


def test_what_a_spreadsheet_would_run_is_text_in_csv():
    names = ("=cmd|' /C calc'!A0", "-1")
    rows = [Row(source="a.png", predicted_class=name, log_probs=(0.0, 0.0)) for name in names]
    assert [row["predicted_class"] for row in written(write_csv, rows, classes=names)] == [f"'{names[0]}", "-1"]


def test_json_is_an_object_a_line_without_infinities():
    first, second = written(write_json_lines)
    assert list(first) == ["path", *NAMES, "probs", "log_probs", *FLAGS]
    assert (first["log_probs"], first["probs"]) == ([None, 0.0], [0.0, 1.0])
    assert (first["lower"], first["upper_name"], first["paradoxical"]) == (0, "hohe Stufe, 2", False)
    assert first["unlike"] == ["contrast", "grain"]
    assert second == {**dict.fromkeys(first), "path": "c.png", "error": "cut off\nor damaged"}


def test_each_row_is_out_before_the_next_is_made():
    file = io.StringIO()
    lengths = []

    def rows():
        for row in ROWS:
            lengths.append(len(file.getvalue()))
            yield row

    write_json_lines(rows(), file, OutputColumns(source_name="path", classes=("low", "high")))
    assert 0 == lengths[0] < lengths[1]


def test_a_name_of_bytes_that_are_no_text_does_not_break_json():
    file = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    write_json_lines(
        [Row(source="\udcff.png", error="empty")], file, OutputColumns(source_name="path", classes=("low", "high"))
    )
    file.seek(0)
    assert json.loads(file.read())["path"] == "\udcff.png"


KEPT = PassthroughColumns(names=("id", "true, label"), rows=(("007", None), (8, 'say "x"')))


def test_kept_columns_stand_behind_what_a_sample_is_called_by():
    for writer, none, number in ((write_csv, "", "8"), (write_json_lines, None, 8)):
        first, second = written(writer, passthrough=KEPT)
        assert list(first)[:5] == ["path", "id", "true, label", "headline", "predicted_class"]
        assert list(first.values())[:4] == ['say "a", b.png', "007", none, "between low and hohe Stufe, 2"]
        assert list(second.values())[:4] == ["c.png", number, 'say "x"', none]


@pytest.mark.bad_input
@pytest.mark.parametrize("name", ["line", "label", "unlike", "error", "probs", "p_low", "log_prob_high", "action"])
def test_a_kept_column_called_as_one_of_the_answers_is_refused(name):
    columns = partial(OutputColumns, source_name="line", classes=("low", "high"))
    kept = columns(passthrough=PassthroughColumns(names=("action",), rows=()))  # unless there is one of the answers
    assert kept.kept_names == ("action",)
    with pytest.raises(InputError, match=f"got '{name}': rename it in the file, for example to 'given_{name}'"):
        columns(passthrough=PassthroughColumns(names=("id", name), rows=()), actions=("wait", "operate"))


def test_what_to_do_stands_before_the_flags_where_it_is_known():
    for writer, none in ((write_csv, ""), (write_json_lines, None)):
        first, second = written(writer, actions=("wait, then look", "operate"))
        assert list(first)[9:11] == ["upper", "action"]
        assert (first["action"], second["action"]) == ("ask a person", none)


TABLE = pd.DataFrame({"id": ["007", "", "8"], "age, years": ["61", "58", None], "ward": ["A", "B", "C"]})


@pytest.mark.parametrize("keep", [["ward,id"], ["ward", "id"], ["ward, id", "ward"]])
def test_columns_come_in_the_order_of_their_names_and_once(keep):
    assert passthrough_columns(TABLE, keep) == PassthroughColumns(
        names=("ward", "id"), rows=(("A", "007"), ("B", None), ("C", "8"))
    )
    assert passthrough_columns(TABLE, ["age, years"]).rows == (("61",), ("58",), (None,))


def test_cells_of_typed_columns_become_what_csv_and_json_can_hold():
    frame = pd.DataFrame(
        {
            "n": [1, 2],
            "x": [0.5, np.inf],
            "gap": pd.array([7, None], dtype="Int64"),
            "ok": [True, False],
            "day": [datetime.date(2020, 1, 2), None],
            "list": [np.array([1, 2]), np.array([])],
        }
    )
    passthrough = passthrough_columns(frame, list(frame.columns))
    assert passthrough.rows == ((1, 0.5, 7, True, "2020-01-02", "[1 2]"), (2, "inf", None, False, None, "[]"))
    assert [type(cell) for cell in passthrough.rows[0]] == [int, float, int, bool, str, str]


@pytest.mark.parametrize(("unsure", "expected"), [("highest", "operate"), ("lowest", "wait"), ("ask", "ask a person")])
def test_where_the_interval_holds_several_classes_the_user_says_which_one_acts(unsure, expected):
    actions, row = ("wait", "operate"), Row(source=1, predicted_class="low", predicted_index=0, lower=0, upper=1)
    assert action_of(row, actions, unsure=unsure) == expected
    assert action_of(replace(row, upper=0), actions, unsure=unsure) == "wait"
    assert action_of(replace(row, upper=0, unlike=("features",)), actions, unsure=unsure) == "ask a person"
    assert action_of(replace(row, upper=0, refer="too unsure"), actions, unsure=unsure) == "ask a person"
    assert action_of(replace(row, lower=None, upper=None), actions, unsure=unsure) == "wait"
