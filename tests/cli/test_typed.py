import sys
from pathlib import Path

import pytest

from onepeak.cli.typed import typed


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("/home/me/.venv/bin/onepeak", "onepeak"),
        ("C:/Scripts/onepeak.exe", "onepeak"),
        ("/site-packages/onepeak/__main__.py", "onepeak"),
        ("my_method.py", "python my_method.py"),
        ("methods/mine.py", "python methods/mine.py"),
        ("/elsewhere/my_method.py", "python /elsewhere/my_method.py"),
        ("/home/me/mine/__main__.py", "python -m mine"),
    ],
)
def test_the_program_is_the_one_that_was_called(monkeypatch, program, command):
    monkeypatch.setattr(sys, "argv", [program, "compare", "a b.csv"])
    assert typed() == [*command.split(), "compare", "a b.csv"]


def test_a_program_in_this_folder_is_named_without_the_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "mine" / "my_method.py"), "train"])
    assert typed() == ["python", str(Path("mine/my_method.py")), "train"]
