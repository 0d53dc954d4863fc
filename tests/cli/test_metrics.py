import json

import pytest

from cli.one_command import invoked
from onepeak.cli.metrics import metrics
from onepeak.metrics.catalog import DEFAULT_NAMES, NAMES


def run(*arguments):
    return invoked(metrics, *arguments)


def test_a_program_reads_a_line_a_metric_with_tabs_between():
    result = run()
    header, *rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert header == ["name", "title", "better", "range", "default"]
    assert [row[0] for row in rows] == list(NAMES)
    assert {len(row) for row in rows} == {5}
    by_name = {row[0]: row for row in rows}
    assert by_name["mae"][2:] == ["lower", "0 to c - 1", "yes"]
    assert by_name["nll"][2:] == ["lower", "0 to infinity", "yes"]
    assert by_name["kappa"][2:] == ["higher", "-1 to 1", "no"]
    assert "c is the number of classes" in result.stderr


def test_on_a_terminal_there_is_a_table(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    assert "│ soi_predicted" in run().stdout


def test_json_holds_the_records_with_their_ends_in_numbers_or_words():
    result = run("--json")
    records = {record["name"]: record for record in json.loads(result.stdout)}
    assert list(records) == list(NAMES)
    assert [records[name]["high"] for name in ("mae", "nll", "qwk")] == ["c - 1", "infinity", 1.0]
    assert (records["qwk"]["low"], records["qwk"]["higher_is_better"], records["qwk"]["default"]) == (-1.0, True, True)
    assert result.stderr == ""


@pytest.mark.parametrize(("flag", "wanted"), [("--default", True), ("--further", False)])
def test_the_default_ones_or_the_others_can_be_listed_alone(flag, wanted):
    names = [record["name"] for record in json.loads(run(flag, "--json").stdout)]
    assert names == [name for name in NAMES if (name in DEFAULT_NAMES) is wanted]
