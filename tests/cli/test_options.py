import inspect
import sys
import typing
from pathlib import Path

import pytest
from typer.models import ArgumentInfo

from cli.one_command import invoked
from onepeak.cli import main
from onepeak.cli.app import app
from onepeak.cli.options import at_home, command_line, settings_of
from onepeak.cli.splits import splits
from onepeak.errors import InputError

NOBODYS = "~nobody-of-this-name/x"


def lines_with_a_path_of_nobody():
    """Of every command, for each of its paths, a line in which that one is in the home of nobody."""
    for command in (each.callback for each in app.registered_commands):
        hints = typing.get_type_hints(command, include_extras=True)
        parameters = list(inspect.signature(command).parameters.values())
        for path in parameters:
            if "Path" not in str(hints[path.name].__origin__) and path.name not in ("protocol", "recipe", "weights"):
                continue
            line = []
            for each in parameters:
                value = NOBODYS if each is path else "x"
                if isinstance(hints[each.name].__metadata__[0], ArgumentInfo):
                    line.append(value)
                elif each is path or each.default is each.empty:
                    line.append(f"--{each.name}={value}")
            yield pytest.param(command, line, id=f"{command.__name__}-{path.name}")


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


@pytest.mark.bad_input
@pytest.mark.parametrize(("command", "line"), [*lines_with_a_path_of_nobody()])
def test_the_home_of_nobody_is_refused_by_every_flag_that_is_a_path(command, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"must name an existing home folder, got {NOBODYS}: use the absolute path"):
        invoked(command, *line)
    assert not list(tmp_path.iterdir())


def test_what_the_shell_left_of_a_home_folder_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "grades.csv").write_text("x,label\n" + "".join(f"{row / 7},{'ab'[row % 2]}\n" for row in range(40)))
    (tmp_path / "order.txt").write_text("b\na\n")
    made = ("~/grades.csv", "--order=~/order.txt")
    assert invoked(splits, *made, "--protocol=holdout", "--splits=1", "--out=~/parts.csv").exit_code == 0
    assert (tmp_path / "parts.csv").is_file()
    assert "protocol parts.csv" in invoked(splits, *made, "--protocol=~/parts.csv").output
    assert at_home(["~/a", Path("~/b"), "b~"]) == [str(tmp_path / "a"), tmp_path / "b", "b~"]
    assert (at_home("./hci"), at_home(None)) == ("./hci", None)


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("/home/me/.venv/bin/onepeak", "onepeak"),
        ("C:/Scripts/onepeak.exe", "onepeak"),
        ("/site-packages/onepeak/__main__.py", "onepeak"),
        ("my_method.py", "python my_method.py"),
        ("methods/mine.py", "python methods/mine.py"),
        ("/elsewhere/my_method.py", "python /elsewhere/my_method.py"),
    ],
)
def test_the_program_is_the_one_that_was_called(monkeypatch, program, command):
    monkeypatch.setattr(sys, "argv", [program, "compare", "a b.csv"])
    assert command_line() == [*command.split(), "compare", "a b.csv"]
