"""The example in the help of every command works when it is pasted in a clone, cut short."""

import re
import shlex
import shutil
import sys

import pytest
import typer

from docs.conftest import _as_before, drawn  # noqa: F401 - fixtures
from docs.test_blocks import tiny
from onepeak.cli import main
from onepeak.cli.app import app

COMMANDS = typer.main.get_command(app).commands
RUN_HERE = ("train", "evaluate", "predict", "methods", "metrics", "datasets", "doctor")
NEEDS = {
    "push": "needs a hub; tests/cli/test_push.py has one",
    "pull": "needs a hub; tests/cli/test_push.py has one",
    "compare": "draws a report; tests/cli/compare/test_command.py runs it",
    "fit": "minutes; tests/cli/test_fit.py runs it",
    "finish": "needs a comparison; tests/cli/test_fit.py runs it",
    "report": "draws a report; tests/cli/test_report.py runs it",
    "demo": "minutes; tests/cli/test_demo.py runs it",
    "serve": "goes on until it is stopped; tests/serving/http runs it",
    "inspect": "goes on until it is stopped; tests/serving/inspector runs it",
    "splits": "of 2,000 images; tests/cli/test_splits.py runs it on fewer",
    "check": "needs a comparison; tests/cli/test_check.py runs it",
    "refer": "needs many labelled samples; tests/serving/test_referral.py runs it",
    "export": "takes many seconds; tests/cli/test_export.py runs it",
}
"""Commands whose example is parsed here and run elsewhere."""


def example_of(command):
    text = " ".join((COMMANDS[command].help or "").split())
    found = re.search(r"Example: (onepeak .*)$", text)
    assert found, f"onepeak {command} --help has no example at its end"
    return found[1]


def test_every_help_ends_with_an_example_whose_flags_exist():
    for command in COMMANDS:
        words = shlex.split(example_of(command))
        assert words[:2] == ["onepeak", command]
        flags = {flag for option in COMMANDS[command].params for flag in (*option.opts, *option.secondary_opts)}
        assert {word for word in words if word.startswith("--")} <= flags


@pytest.mark.usefixtures("_as_before")
def test_the_examples_work_one_after_another(drawn, tmp_path, monkeypatch, capsys):  # noqa: F811
    """As somebody would paste them: a model, what it is worth, what it says, and the lists."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(drawn, "out/try")
    for command in RUN_HERE:
        words = shlex.split(example_of(command))
        words = words[: words.index(">")] if ">" in words else words
        # the embedded data set is large for a test: the same commands on a small one
        if command != "datasets":
            words = ["out/try/photos" if word == "biopsies" else word for word in tiny(words)]
        order = ["--order", "mild,moderate,severe"] if command == "train" else []
        monkeypatch.setattr(sys, "argv", [*words, *order])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert not stopped.value.code, f"{' '.join(words)}\n{capsys.readouterr().err}"


def test_every_command_is_run_here_or_elsewhere():
    assert set(COMMANDS) == set(RUN_HERE) | set(NEEDS)
