import sys

import pytest

from onepeak.cli import main
from onepeak.cli.options import settings_of
from onepeak.errors import InputError


def test_numbers_booleans_and_text_are_read_as_what_they_are():
    found = settings_of(["t=1.5", "steps=3", "slack=-1e-3", "exact=true", "loose=false", "kind=log", "name=a=b"])
    assert found == {
        "t": 1.5,
        "steps": 3,
        "slack": -0.001,
        "exact": True,
        "loose": False,
        "kind": "log",
        "name": "a=b",
    }
    # 3 == 3.0 and True == 1, so that only the types tell them apart
    assert [type(value) for value in found.values()] == [float, int, float, bool, bool, str, str]


def test_no_flags_are_no_settings():
    assert settings_of([]) == {}


@pytest.mark.bad_input
@pytest.mark.parametrize("pair", ["nonsense", "=3", "t:3", ""])
def test_a_pair_that_is_none_is_shown(pair):
    with pytest.raises(InputError, match=rf"`--set` must be name=value, got {pair!r}"):
        settings_of(["t=1", pair])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "command", [("splits", "photos"), ("evaluate", "model", "photos"), ("train", "photos", "--method=ce", "--out=run")]
)
def test_an_order_with_spaces_is_answered_with_commas(command, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["onepeak", *command, "--order", "mild", "moderate", "severe"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    errors = capsys.readouterr().err
    assert "`--order` must name at least 2 classes with commas between them, lowest first, got 'mild'" in errors
    assert "--order low,middle,high" in errors
