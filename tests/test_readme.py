"""Every Python block of the README runs, and so do its commands."""

import re
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from docs.conftest import _as_before  # noqa: F401 - a fixture
from docs.pages import blocks as blocks_of
from docs.test_blocks import run_command
from in_process import Here
from onepeak.cli import demo
from onepeak.cli.app import app
from onepeak.cli.compare import run

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_first_python_block_runs_in_a_fresh_process_without_a_warning():
    subprocess.run(
        [sys.executable, "-W", "error", "-c", blocks("python")[0]], check=True, capture_output=True, cwd=ROOT
    )


@pytest.mark.parametrize("code", blocks("python")[1:], ids=range(1, len(blocks("python"))))
def test_python_blocks_run(code):
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})


def test_commands_exist():
    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    named = {line.split()[1] for block in blocks("bash") for line in block.splitlines() if line.startswith("onepeak ")}
    assert {"compare", "train", "predict"} <= named <= known


@pytest.mark.unchecked
@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["cut short", "whole"])
def test_commands_run_one_after_another(whole, tmp_path, monkeypatch, capsys):
    """But for set-up and for what goes on until it is stopped; the demo takes minutes, so it is cut short."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "executor_of", lambda *_, **__: Here())
    if not whole:
        plan = demo.demo_plan()
        tiny = replace(
            plan, methods=plan.methods[-2:], splits=1, recipe=plan.recipe | {"epochs": 1, "warmup_epochs": 0}
        )
        monkeypatch.setattr(demo, "demo_plan", lambda: tiny)
        monkeypatch.setattr("onepeak.experiment.executors.local.LocalExecutor", lambda **_: Here())
    lines = [line for block in blocks_of(ROOT / "README.md") if block.language == "bash" for line in block.commands]
    for line in lines:
        if not line.startswith(("make ", "pip ", "onepeak inspect ", "onepeak serve ")):
            run_command(line, "README.md", monkeypatch, capsys)
    answers = Path("predictions.csv").read_text().splitlines()[1:]
    assert len(answers) == len(list(Path("photos/severe").iterdir()))


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for block in blocks("bash"):
        for target in re.findall(r"^make (\S+)", block, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.unchecked
def test_the_first_contact_example_shows_the_order(capsys):
    runpy.run_path(str(ROOT / "examples" / "first_contact.py"))
    lines = capsys.readouterr().out.splitlines()[1:]
    ordered = {line.split()[0]: float(line.split()[2].rstrip("%")) for line in lines}
    assert ordered["elb"] > 97
    assert ordered["ce"] < 90
