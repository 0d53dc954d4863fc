import json

import pytest
import typer
from typer.testing import CliRunner

import onepeak
from onepeak.cli.methods import methods

app = typer.Typer()
app.command()(methods)


def run(*arguments):
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def test_a_program_reads_a_line_a_method_with_tabs_between():
    header, *rows = [line.split("\t") for line in run().stdout.splitlines()]
    assert header == ["name", "title", "outputs", "one peak by construction", "reference"]
    assert [row[0] for row in rows] == [record.name for record in onepeak.methods()]
    assert {len(row) for row in rows} == {5}
    peaked = {row[0]: row[3] for row in rows}
    assert (peaked["po"], peaked["ce"]) == ("yes", "no")


def test_the_constraints_that_can_be_put_on_a_method_are_told():
    assert "+elb (under a log-barrier), +pn (under a penalty)" in run().stderr


def test_on_a_terminal_there_is_a_table(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "160")
    assert "│ elb" in run().stdout


def test_json_holds_the_records():
    result = run("--json")
    records = json.loads(result.stdout)
    assert [record["name"] for record in records] == [record.name for record in onepeak.methods()]
    assert records[0]["num_outputs"] == "c"
    assert result.stderr == ""


@pytest.mark.parametrize("name", ["mv+elb", "ld+pn"])
def test_what_the_help_names_is_a_method(name):
    assert name in run("--help").stdout
    assert onepeak.method(name, num_classes=3).num_outputs == 3
