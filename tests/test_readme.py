"""Every Python block of the README runs, and every command in it is one that is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("code", blocks("python"), ids=range(len(blocks("python"))))
def test_python_blocks_run(code):
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, cwd=ROOT)


def test_commands_exist():
    help_text = subprocess.run(
        [sys.executable, "-c", "from onepeak.cli import main; main()", "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    commands = {
        line.split()[1] for block in blocks("bash") for line in block.splitlines() if line.startswith("onepeak ")
    }
    assert commands
    for command in commands:
        assert re.search(rf"\b{command}\b", help_text), command


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for block in blocks("bash"):
        for target in re.findall(r"^make (\S+)", block, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_first_contact_example_shows_the_order():
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples/first_contact.py")], capture_output=True, text=True, check=True
    )
    ordered = {line.split()[0]: float(line.split()[2].rstrip("%")) for line in run.stdout.splitlines()[1:]}
    assert ordered["elb"] > 97
    assert ordered["ce"] < 90
