"""What the tests of several commands share."""

import sys

import numpy as np
import pandas as pd
import pytest

from in_process import Here
from onepeak.cli import main


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """Eighty rows whose grade, 0 to 3, can be told from both columns."""
    rng = np.random.default_rng(0)
    grades = np.arange(80) % 4
    columns = {"size": grades + 0.3 * rng.standard_normal(80), "tone": 0.5 * rng.standard_normal(80) - grades}
    path = tmp_path_factory.mktemp("data") / "grades.csv"
    pd.DataFrame({**columns, "grade": grades}).to_csv(path, index=False)
    return path


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs `onepeak` in this process; gives the exit status and what was printed."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["onepeak", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        return (stopped.value.code or 0, *capsys.readouterr())

    return call


@pytest.fixture
def here(monkeypatch):
    """Where no process is needed, `compare` and `demo` train in this one."""
    monkeypatch.setattr("onepeak.cli.compare.run.executor_of", lambda *_, **__: Here())
    monkeypatch.setattr("onepeak.experiment.executors.local.LocalExecutor", lambda **_: Here())  # of the demo


@pytest.fixture(autouse=True)
def _no_print(monkeypatch):
    """Figures for print, which take seconds, are empty files; tests/report draws them."""

    def touched(_, stem):
        paths = stem.with_name(f"{stem.name}.png"), stem.with_name(f"{stem.name}.pdf")
        stem.parent.mkdir(parents=True, exist_ok=True)
        for path in paths:
            path.touch()
        return paths

    monkeypatch.setattr("onepeak.report.page.save", touched)


@pytest.fixture
def no_pages(monkeypatch):
    """As if jinja2 were not installed: figures and pages, which take seconds, are left out."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
