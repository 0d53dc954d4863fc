"""`--actions`: what to do for a class, in the same words by every command that answers."""

import csv
import io
import json

import pytest
import uvicorn

from cli.one_command import invoked, seen_on_a_terminal
from http_server import asking
from onepeak.cli import predict, serve
from onepeak.errors import InputError
from onepeak.serving import load
from trained_models import TABLE_CLASSES, table_run

TO_DO = {"low": "wait", "middle": "wait, then look", "high": "operate"}
ROWS = [{"size": size, "tone": "2"} for size in (-3, 0, 3)]


@pytest.fixture
def actions(tmp_path):
    path = tmp_path / "actions.csv"
    path.write_text("label,action\n" + "".join(f'{name},"{TO_DO[name]}"\n' for name in reversed(TABLE_CLASSES)))
    return path


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("size,tone,action\n" + "".join(f"{row['size']},{row['tone']},x\n" for row in ROWS) + ",,x\n")
    return path


@pytest.fixture
def wanted():
    """The action of the highest class of each interval."""
    found = load(table_run().folder).predict(ROWS)
    assert not any(found.unlike)
    return [TO_DO[upper] for _, upper in found.interval_names]


def test_predict_has_a_column_of_them_and_rows_without_an_answer_none(actions, rows, wanted):
    given = (table_run().folder, rows, "--actions", actions, "--device=cpu")
    said = list(csv.DictReader(io.StringIO(invoked(predict.predict, *given, "--csv").stdout)))
    assert [row["action"] for row in said] == [*wanted, ""]
    lines = invoked(predict.predict, *given, "--json").stdout.splitlines()
    assert [json.loads(line)["action"] for line in lines] == [*wanted, None]
    shown = [line.split("│") for line in seen_on_a_terminal(predict.predict, *given).splitlines() if "│" in line]
    assert [cells[-2].strip() for cells in shown if cells[1].strip()] == [*wanted, ""]


def test_without_the_flag_there_is_no_such_column(rows):
    said = invoked(predict.predict, table_run().folder, rows, "--csv", "--device=cpu", "--keep", "action").stdout
    assert [row["action"] for row in csv.DictReader(io.StringIO(said))] == ["x"] * 4  # the user's own, kept


@pytest.mark.parametrize("flag", [True, False])
def test_serve_answers_with_them(actions, wanted, monkeypatch, flag):
    served = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: (served.append(self.config), sockets[0].close()))
    flags = ("--actions", actions) if flag else ()
    invoked(serve.serve, table_run().folder, "--port", 0, "--device", "cpu", *flags)
    said = asking(served[0].app).post("/v1/predict", json={"rows": ROWS}).json()["predictions"]
    assert [item["action"] for item in said] == (wanted if flag else [None] * 3)


@pytest.mark.bad_input
@pytest.mark.parametrize("command", [predict.predict, serve.serve])
def test_a_file_that_does_not_fit_the_classes_is_refused(command, tmp_path, rows):
    path = tmp_path / "short.csv"
    path.write_text("label,action\nlow,wait\n")
    given = (rows,) if command is predict.predict else ("--port", 0)
    with pytest.raises(InputError, match=r"short\.csv must have an action for every class, got none for middle, high"):
        invoked(command, table_run().folder, *given, "--actions", path, "--device", "cpu")
