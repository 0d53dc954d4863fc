"""`onepeak demo` on a smaller plan than its own, which takes minutes; the rest is real."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from onepeak.cli import demo
from onepeak.data import DataSource
from onepeak.experiment.plan import Experiment, entries_from_text, read_plan

COMMITTED = Path(__file__).parent.parent.parent / "experiments" / "biopsies-demo.toml"


def test_the_plan_in_the_package_is_the_one_among_the_experiments():
    plan = demo.demo_plan()
    assert read_plan(COMMITTED) == plan
    assert [entry.label for entry in plan.methods] == ["ce", "ren", "ld", "mv", "po", "pn", "elb", "peak"]


@pytest.fixture
def run(run, monkeypatch, tmp_path):
    """Runs `onepeak demo` on a table with two methods; gives the exit status and what was printed."""
    grades = np.arange(60) % 3
    table = tmp_path / "grades.csv"
    pd.DataFrame({"size": grades + 0.1 * np.sin(np.arange(60)), "grade": grades}).to_csv(table, index=False)
    plan = Experiment(
        name="tiny",
        source=DataSource(str(table), label="grade"),
        methods=entries_from_text("ce,elb"),
        protocol="holdout",
        splits=1,
        recipe={"epochs": 2},
    )
    monkeypatch.setattr(demo, "demo_plan", lambda: plan)

    def call(*arguments):
        shared = ["--out", tmp_path / "demo", "--workers", 1, "--device", "cpu"]
        return run("demo", *shared, *arguments)

    return call


def test_the_demo_trains_reports_says_what_to_open_and_goes_on_when_called_again(run, here, tmp_path):
    status, output, errors = run()
    page = tmp_path / "demo" / "report.html"
    assert status == 0, errors
    assert "elb" in output
    assert f"Open {page} in a browser" in errors
    assert page.is_file()
    results = {path: path.stat().st_mtime_ns for path in tmp_path.glob("demo/runs/*/*/result.json")}
    assert len(results) == 2

    status, again, errors = run("--quiet")
    assert (status, errors) == (0, "")
    assert again == output
    assert {path: path.stat().st_mtime_ns for path in results} == results


def test_without_the_packages_for_a_report_no_page_is_named(run, here, no_pages, tmp_path):
    status, output, errors = run()
    assert status == 0, errors
    assert output == ""
    assert "needs jinja2: pip install 'onepeak[report]'" in errors
    assert "Open " not in errors
    assert "Then, on your own data: onepeak compare" in errors
    assert not (tmp_path / "demo" / "report.html").exists()
