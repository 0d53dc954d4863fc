"""What the tests of several commands share."""

import sys

import numpy as np
import pandas as pd
import pytest

from onepeak.cli import main
from onepeak.experiment.task import train_task
from onepeak.training.devices import make_fabric


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


class Here:
    """Trains one run after another in this process."""

    workers, devices = 1, ("this process",)

    def speedup(self, _):
        return 1.0

    def run(self, runs, opened, folder, *, report):
        for each in runs:
            report(train_task(each, opened, folder, fabric=make_fabric(device="cpu"), report=report))


@pytest.fixture
def here(monkeypatch):
    """Where no process is needed, `compare` and `demo` train in this one."""
    monkeypatch.setattr("onepeak.cli.comparing.executor_of", lambda _: Here())
    monkeypatch.setattr("onepeak.experiment.local.LocalExecutor", lambda **_: Here())  # of the demo


@pytest.fixture
def no_pages(monkeypatch):
    """As if jinja2 were not installed: figures and pages, which take seconds, are left out."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
