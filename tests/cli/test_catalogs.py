"""`onepeak methods`, `metrics` and `datasets`."""

import json
from typing import get_args

import pytest

import onepeak
from cli.one_command import invoked
from onepeak.cli.catalogs import datasets, methods, metrics
from onepeak.data.datasets import DATASETS
from onepeak.errors import InputError, UnknownNameError
from onepeak.methods.record import Family
from onepeak.metrics.catalog import DEFAULT_NAMES, METRICS, NAMES

CATALOGS = {methods: onepeak.methods(), metrics: METRICS, datasets: DATASETS}


def rows_of(*arguments):
    """The cells of a table as a program reads them, and what stands beside it."""
    result = invoked(*arguments)
    return [line.split("\t") for line in result.stdout.splitlines()], result.stderr


def json_of(*arguments):
    result = invoked(*arguments, "--json")
    assert result.stderr == ""
    return json.loads(result.stdout)


@pytest.mark.parametrize("command", CATALOGS)
def test_a_program_reads_a_line_or_an_object_for_each_and_a_terminal_shows_a_table(command, monkeypatch):
    (header, *rows), notes = rows_of(command)
    names = [record.name for record in CATALOGS[command]]
    assert [row[0] for row in rows] == [record["name"] for record in json_of(command)] == names
    assert {len(row) for row in rows} == {len(header)}
    assert "Next: onepeak " in notes
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    shown = invoked(command).stdout
    assert f"│ {names[0]}" in shown
    assert "…" not in shown  # an address that is cut is of no use


def test_methods_tell_whether_they_always_have_one_peak_and_what_can_be_added():
    (header, *rows), notes = rows_of(methods)
    assert header == ["name", "title", "family", "always one peak"]
    peaked = {row[0]: row[3] for row in rows}
    assert (peaked["po"], peaked["ce"]) == ("yes", "no")
    assert "+elb (under a log-barrier), +pn (under a penalty)" in notes
    assert "smooth-   for any method with one output per class or level" in notes
    records = {record["name"]: record for record in json_of(methods)}
    assert (records["ce"]["num_outputs"], records["pn"]["settings"]) == ("c", {"weight": 0.01, "slack": 0.1})


def test_one_method_is_shown_with_its_settings_and_how_they_are_given():
    rows, notes = rows_of(methods, "elb")
    about = dict(rows)
    assert about["name"] == "elb"
    assert about["reference"].startswith("Belharbi et al. 2019")
    assert (about["outputs for c classes"], about["variants"]) == ("c", "corrected, as_published")
    assert (about["setting t"], about["setting growth"], about["setting t_max"]) == ("1.0", "1.001", "5.0")
    assert "--methods ce,elb:t=1.0" in notes
    assert "--method elb:t=1.0" in notes
    rows, notes = rows_of(methods, "se")
    assert dict(rows)["variants"] == "corrected"
    assert notes == "se has no settings.\n"


def test_one_that_is_put_together_has_the_settings_of_its_parts_that_can_be_given():
    one = json_of(methods, "smooth-mv+elb")
    assert one["settings"] == {"mean_weight": 0.2, "variance_weight": 0.05, "t": 1.0, "growth": 1.001, "t_max": 5.0}
    assert one["title"] == "mean-variance, under a log-barrier, neighbouring outputs averaged (smooth-)"
    assert onepeak.method("smooth-mv+elb", 5, **one["settings"]).num_outputs == 5
    both = json_of(methods, "slopes+pn")  # each has a `weight`, which the name cannot tell apart
    assert list(both["settings"]) == ["levels", "temperature", "slack"]
    assert onepeak.method("slopes+pn", 5, **both["settings"]).num_outputs == 4


def names(*arguments):
    return [record["name"] for record in json_of(*arguments)]


def test_methods_can_be_listed_by_family_and_peak():
    assert names(methods, "--family", "constraint")[:2] == ["pn", "elb"]
    by_family = [name for family in get_args(Family) for name in names(methods, "--family", family)]
    assert sorted(by_family) == sorted(record.name for record in onepeak.methods())
    assert names(methods, "--unimodal") == [record.name for record in onepeak.methods() if record.unimodal]
    assert "ce" in names(methods, "--not-unimodal")
    both = set(names(methods, "--unimodal")) & set(names(methods, "--family", "distribution"))
    assert set(names(methods, "--unimodal", "--family", "distribution")) == both > {"po", "binomial", "copoc"}


def test_metrics_have_their_ends_in_numbers_or_words():
    (header, *rows), notes = rows_of(metrics)
    assert header == ["name", "title", "better", "range", "default"]
    ranges = {row[0]: row[2:] for row in rows}
    assert ranges["mae"] == ["lower", "0 to c - 1", "yes"]
    assert ranges["nll"] == ["lower", "0 to infinity", "yes"]
    assert ranges["kappa"] == ["higher", "-1 to 1", "no"]
    assert "c is the number of classes" in notes
    records = {record["name"]: record for record in json_of(metrics)}
    assert [records[name]["high"] for name in ("mae", "nll", "qwk")] == ["c - 1", "infinity", 1.0]
    assert (records["qwk"]["low"], records["qwk"]["higher_is_better"], records["qwk"]["default"]) == (-1.0, True, True)
    assert set(names(metrics, "--default")) == set(DEFAULT_NAMES) == set(NAMES) - set(names(metrics, "--further"))


@pytest.fixture
def fgnet(tmp_path):
    for name in ("001A02.JPG", "001A05.JPG", "002A02.JPG"):
        path = tmp_path / "images" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    return tmp_path


def test_data_sets_are_listed_with_how_to_obtain_them_and_one_is_shown_whole():
    rows, _ = rows_of(datasets)
    assert [row[4] for row in rows[1:]] == [record.obtain for record in DATASETS]
    shown = invoked(datasets, "fgnet").stdout
    for text in ("0 < 1 < 2 < ... < 69 (70 classes)", "1,002", DATASETS["fgnet"].terms, DATASETS["fgnet"].reference):
        assert text in shown
    assert rows_of(datasets, "fgnet")[1] == "Next: onepeak train fgnet --root FOLDER\n"
    assert rows_of(datasets, "biopsies")[1] == "Next: onepeak train biopsies\n"
    assert json_of(datasets, "hci")["images_per_class"] == 265


def test_what_was_found_stands_beside_what_should_be_there(fgnet):
    rows, notes = rows_of(datasets, "fgnet", "--root", fgnet)
    assert ["2", "2", "?"] in rows
    assert ["all", "3", "1,002"] in rows
    assert "Note: found 3 of 1,002 images and 2 of 82 subjects\n" in notes
    found = json_of(datasets, "fgnet", "--root", fgnet)
    assert (found["images"], found["found"]["images"], found["found"]["groups"]) == (1002, 3, 2)
    assert found["found"]["classes"]["2"] == 2


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("command", "arguments", "error", "message"),
    [
        (methods, ("ebl",), UnknownNameError, r"Unknown method 'ebl'\. Did you mean 'elb'\?"),
        (methods, ("smooth-gaussian",), InputError, r"'smooth-' must precede a method with one output per class"),
        (methods, ("elb", "--family", "levels"), InputError, r"`--family` and `--unimodal` are for the list of all"),
        (methods, ("--family", "level"), InputError, r"Unknown `--family` 'level'. Did you mean 'levels'\?"),
        (datasets, ("--root", "x"), InputError, r"`--root` needs the name of a data set: onepeak datasets NAME --root"),
        (datasets, ("fgnt",), UnknownNameError, r"Did you mean 'fgnet'\?"),
    ],
)
def test_what_is_not_known_or_has_no_use_is_refused(command, arguments, error, message):
    with pytest.raises(error, match=message):
        invoked(command, *arguments)
