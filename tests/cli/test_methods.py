import json
from typing import get_args

import pytest

import onepeak
from cli.one_command import invoked
from onepeak.cli.methods import methods
from onepeak.errors import InputError
from onepeak.methods.record import Family


def run(*arguments):
    return invoked(methods, *arguments)


def test_a_program_reads_a_line_a_method_with_tabs_between():
    header, *rows = [line.split("\t") for line in run().stdout.splitlines()]
    assert header == ["name", "title", "family", "outputs", "one peak by construction", "reference"]
    assert [row[0] for row in rows] == [record.name for record in onepeak.methods()]
    assert {len(row) for row in rows} == {6}
    peaked = {row[0]: row[4] for row in rows}
    assert (peaked["po"], peaked["ce"]) == ("yes", "no")


def test_what_can_be_put_before_and_behind_a_name_is_told():
    told = run().stderr
    assert "+elb (under a log-barrier), +pn (under a penalty)" in told
    assert "smooth-   before any with an output for each class or level" in told
    assert onepeak.method("smooth-rps+elb", num_classes=3).num_outputs == 3


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


def names(*arguments):
    return [record["name"] for record in json.loads(run(*arguments, "--json").stdout)]


def test_one_family_alone_can_be_listed():
    assert names("--family", "constraint") == ["pn", "elb", "hinge", "lagrangian", "wu"]
    by_family = [name for family in get_args(Family) for name in names("--family", family)]
    assert sorted(by_family) == sorted(record.name for record in onepeak.methods())


def test_those_with_one_peak_by_construction_can_be_listed_and_those_without():
    assert names("--unimodal") == [record.name for record in onepeak.methods() if record.unimodal]
    assert "ce" in names("--not-unimodal")
    assert names("--unimodal", "--family", "distribution") == [
        "po",
        "binomial",
        "poisson",
        "gaussian",
        "copoc",
        "unimodal-net",
    ]


@pytest.mark.bad_input
def test_a_family_that_is_not_known_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"Unknown `--family` 'level'. Did you mean 'levels'\? Known: plain, distance"):
        run("--family", "level")


@pytest.mark.parametrize("name", ["mv+elb", "ld+pn"])
def test_what_the_help_names_is_a_method(name):
    assert name in run("--help").stdout
    assert onepeak.method(name, num_classes=3).num_outputs == 3
