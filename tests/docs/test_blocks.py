"""Every block of code in the documentation is run in an empty folder, trainings with tiny settings.

`python` blocks of a page run one after another in one namespace, `bash` blocks run the command line, `sh` blocks, which
need a cluster or a service, are parsed: every command and flag in them exists. `toml` blocks are read.
"""

import ast
import importlib.util
import re
import runpy
import shlex
import shutil
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from docs.pages import NOTEBOOKS, PAGES, ROOT, blocks, cells
from in_process import Here
from onepeak.cli import main
from onepeak.cli.app import app
from onepeak.cli.compare import run
from onepeak.training import presets

PEERS = {"dlordinal", "coral_pytorch", "condor_pytorch", "mord", "skordinal", "transformers", "fastai"}
"""Packages that need not be there; a block that imports a missing one is passed over."""

TINY = {"train": ["--epochs", "1"], "compare": ["--epochs", "1", "--splits", "1", "--folds", "1"]}
OF_IMAGES = ["--backbone", "small"]
DROPPED = ("--epochs", "--backbone", "--weights", "--workers", "--device", "--splits", "--folds", "--recipe", "--port")
"""Flags with a value that are not for a test."""

TRAINED = {}
"""Where the models of earlier pages are, by the command that trained them: the same is not trained twice."""

WITH_CODE = [page for page in PAGES if any(block.language in ("python", "bash") for block in blocks(page))]
ELSEWHERE = [block for page in PAGES for block in blocks(page) if block.language == "sh"]


def of(page):
    return page.stem


@pytest.mark.unchecked
@pytest.mark.usefixtures("_as_before")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:scipy", "ignore::DeprecationWarning:mord")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("page", [*WITH_CODE, *NOTEBOOKS], ids=of)
def test_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "executor_of", lambda *_, **__: Here())
    monkeypatch.setattr(presets, "TABLE", replace(presets.TABLE, epochs=2))  # the default of OrdinalClassifier too
    namespace = {"__name__": page.stem}
    for block in cells(page) if page in NOTEBOOKS else blocks(page):
        if block.language == "python" and not missing(block.text):
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), namespace)
        elif block.language == "bash":
            for line in block.commands:
                run_command(line, f"{page.name}:{block.line}", monkeypatch, capsys)


def missing(code):
    """Peers that the code imports and that are not installed."""
    names = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    }
    return {name for name in names & PEERS if importlib.util.find_spec(name) is None}


def run_command(line, place, monkeypatch, capsys):
    """Runs a line of a shell in this process."""
    words = shlex.split(line)
    if "&&" in words:
        for part in line.split("&&"):
            run_command(part.strip(), place, monkeypatch, capsys)
        return
    match words:
        case ["cd", folder]:
            monkeypatch.chdir(folder)
            return
        case ["python", script, *_]:  # from the folder of the clone
            monkeypatch.setattr(sys, "argv", words[1:])
            runpy.run_path(str(ROOT / script), run_name="__main__")
            return
    assert words[0] == "onepeak", f"{place}: `bash` blocks are for onepeak and examples alone, got {line!r}"
    words, target = (words[: words.index(">")], words[-1]) if ">" in words else (words, None)
    if words[1] == "train" and line in TRAINED:
        shutil.copytree(TRAINED[line], words[words.index("--out") + 1])
        return
    monkeypatch.setattr(sys, "argv", tiny(words))
    capsys.readouterr()  # what was printed before is not this command's
    with pytest.raises(SystemExit) as stopped:
        main()
    printed = capsys.readouterr()
    assert not stopped.value.code, f"{place}: {line}\n{printed.err}"
    if target:
        Path(target).write_text(printed.out)
    if words[1] == "train":
        TRAINED[line] = Path(words[words.index("--out") + 1]).absolute()


def tiny(words):
    """The words of a command, its training cut short."""
    command = words[1]
    if command not in TINY:
        return words
    kept = [
        word for word, before in zip(words, ["", *words], strict=False) if word not in DROPPED and before not in DROPPED
    ]
    of_a_table = any(word.endswith(("patients.csv", "rated.csv", "reviews.csv")) for word in words)
    return [*kept, *TINY[command], *([] if of_a_table else OF_IMAGES), "--quiet"]


@pytest.mark.parametrize("block", ELSEWHERE, ids=lambda block: f"{block.page.stem}-{block.line}")
def test_commands_for_elsewhere_have_flags_that_exist(block):
    group = typer.main.get_command(app)
    for line in block.commands:
        found = re.search(r"\bonepeak (\w+) (.*)", line)
        if found is None:
            continue
        command = group.commands[found[1]]
        flags = {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}
        given = set(re.findall(r"(?<=\s)--[a-z-]+", f" {found[2]}"))
        assert given <= flags, f"{line}: {given - flags}"


@pytest.mark.parametrize("page", PAGES, ids=of)
def test_toml_blocks_can_be_read(page):
    for block in blocks(page):
        if block.language == "toml":
            tomllib.loads(block.text)


def test_blocks_have_a_language_that_is_checked():
    """`text` is for output and layouts, `yaml` for settings of other programs."""
    known = {"python", "bash", "sh", "toml", "text", "json", "http", "yaml"}
    wrong = [f"{b.page.name}:{b.line} {b.language}" for page in PAGES for b in blocks(page) if b.language not in known]
    assert not wrong
