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
    assert header == ["name", "title", "family", "always one peak"]
    assert [row[0] for row in rows] == [record.name for record in onepeak.methods()]
    assert {len(row) for row in rows} == {4}
    peaked = {row[0]: row[3] for row in rows}
    assert (peaked["po"], peaked["ce"]) == ("yes", "no")


def test_what_can_be_put_before_and_behind_a_name_is_told():
    told = run().stderr
    assert "+elb (under a log-barrier), +pn (under a penalty)" in told
    assert "smooth-   for any method with one output per class or level" in told
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
    assert {record["name"]: record["settings"] for record in records}["pn"] == {"weight": 0.01, "slack": 0.1}
    assert result.stderr == ""


def told(*arguments):
    """The rows about one method, and what is said beside them."""
    result = run(*arguments)
    return dict(line.split("\t") for line in result.stdout.splitlines()), result.stderr


def test_one_method_is_shown_with_its_settings_and_how_they_are_given():
    rows, notes = told("elb")
    assert rows["name"] == "elb"
    assert rows["reference"].startswith("Belharbi et al. 2019")
    assert (rows["outputs for c classes"], rows["variants"]) == ("c", "corrected, as_published")
    assert (rows["setting t"], rows["setting growth"], rows["setting t_max"]) == ("1.0", "1.001", "5.0")
    assert "--methods ce,elb:t=1.0" in notes
    assert "--method elb:t=1.0" in notes
    rows, notes = told("se")
    assert rows["variants"] == "corrected"
    assert notes == "se has no settings.\n"


def test_one_that_is_put_together_has_the_settings_of_its_parts_that_can_be_given():
    one = json.loads(run("smooth-mv+elb", "--json").stdout)
    assert one["settings"] == {"mean_weight": 0.2, "variance_weight": 0.05, "t": 1.0, "growth": 1.001, "t_max": 5.0}
    assert one["title"] == "mean-variance, under a log-barrier, neighbouring outputs averaged (smooth-)"
    assert onepeak.method("smooth-mv+elb", 5, **one["settings"]).num_outputs == 5
    both = json.loads(run("slopes+pn", "--json").stdout)  # each has a `weight`, which the name cannot tell apart
    assert list(both["settings"]) == ["levels", "temperature", "slack"]
    assert onepeak.method("slopes+pn", 5, **both["settings"]).num_outputs == 4


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ebl",), r"Unknown method 'ebl'\. Did you mean 'elb'\?"),
        (("smooth-gaussian",), r"'smooth-' must precede a method with one output per class"),
        (("elb", "--family", "levels"), r"`--family` and `--unimodal` are for the list of all: leave them out with"),
    ],
)
def test_a_name_that_is_not_known_or_a_filter_beside_it_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        run(*arguments)


def names(*arguments):
    return [record["name"] for record in json.loads(run(*arguments, "--json").stdout)]


def test_one_family_alone_can_be_listed():
    assert names("--family", "constraint")[:2] == ["pn", "elb"]
    assert names("--family", "plain") == ["ce", "mce"]
    by_family = [name for family in get_args(Family) for name in names("--family", family)]
    assert sorted(by_family) == sorted(record.name for record in onepeak.methods())


def test_those_with_one_peak_by_construction_can_be_listed_and_those_without():
    assert names("--unimodal") == [record.name for record in onepeak.methods() if record.unimodal]
    assert "ce" in names("--not-unimodal")
    both = set(names("--unimodal")) & set(names("--family", "distribution"))
    assert set(names("--unimodal", "--family", "distribution")) == both > {"po", "binomial", "copoc"}


@pytest.mark.bad_input
def test_a_family_that_is_not_known_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"Unknown `--family` 'level'. Did you mean 'levels'\? Known: plain, distance"):
        run("--family", "level")


@pytest.mark.parametrize("name", ["mv+elb", "ld+pn"])
def test_what_the_help_names_is_a_method(name):
    assert name in run("--help").stdout
    assert onepeak.method(name, num_classes=3).num_outputs == 3
