"""Figures quoted in README and pages are those of the records in `results`; pictures have a script that makes them."""

import csv
import re

import pytest

import onepeak
from docs.pages import ROOT

FGNET = ROOT / "results" / "fgnet-posteriors"


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def measured():
    """Means over the splits of FG-NET, by method and metric."""
    with (FGNET / "table.csv").open(encoding="utf-8") as file:
        return {(row["method"], row["metric"]): float(row["mean"]) for row in csv.DictReader(file)}


def rows_of(text):
    """The rows of all tables in a text, as lists of cells."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


def found(column, *start):
    """The cell of the results on FG-NET in a column of the table that has it, in the row that starts so."""
    text = (FGNET / "README.md").read_text(encoding="utf-8")
    header = next(row for row in rows_of(text) if column in row)
    table = text[text.index(f"| {' | '.join(header)} |") :].partition("\n\n")[0]
    (row,) = [row for row in rows_of(table) if row[: len(start)] == list(start)]
    return float(row[header.index(column)])


@pytest.mark.parametrize(("title", "method"), [("cross-entropy", "ce"), ("ELB", "elb"), ("`slopes`", "slopes")])
def test_the_table_of_the_readme_is_what_was_measured(title, method, measured):
    (row,) = [row for row in rows_of(text_of("README.md")) if row[0] == title]
    width, covered = found("labels", method, "raw"), found("coverage %", method, "raw")
    assert row[1:] == [
        f"{measured[method, 'mae']:.2f}",
        f"{100 * measured[method, 'soi_predicted']:.1f} %",
        f"{width:.0f} ({covered:.0f} %)",
    ]


def test_what_the_pages_say_of_fgnet_is_what_was_measured(measured):
    mae = {method: f"{value:.2f}" for (method, metric), value in measured.items() if metric == "mae"}
    choose = text_of("docs/choose.md")
    assert f"on FG-NET {mae['slopes']} against {mae['ce']} for cross-entropy" in choose
    assert f"the error from {mae['ce']} to {mae['elb']}; `rps+elb:weight=0.3` has {mae['rps+elb-weight-0.3']}" in choose
    kinds = ("raw", "projected")
    median = {(name, kind): f"{found('MAE, median', name, kind):.2f}" for name in ("ce", "elb") for kind in kinds}
    before, after, trained = median["ce", "raw"], median["ce", "projected"], median["elb", "raw"]
    assert f"falls from {before} to {after} by projection, and that of a network trained with ELB is {trained}" in (
        text_of("docs/trust.md")
    )


@pytest.mark.parametrize("path", ["README.md", "docs/design.md"])
def test_the_number_of_methods_is_that_of_the_catalog(path):
    (count,) = re.findall(r"(\d+) (?:ordinal methods|methods share)", text_of(path))
    assert int(count) == len(onepeak.methods())


@pytest.mark.parametrize("path", ["README.md", "docs/choose.md", "results/catalog/README.md"])
def test_the_number_of_methods_compared_on_five_sets_is_that_of_the_records(path):
    with (ROOT / "results" / "catalog" / "runs.csv").open(encoding="utf-8") as file:
        compared = {row["method"] for row in csv.DictReader(file)}
    counts = re.findall(
        r"(\d+) methods(?: on (?:four tables|five data sets)|, one network)|of (\d+) by mean", text_of(path)
    )
    assert {int(one or other) for one, other in counts} == {len(compared)}


def test_every_committed_picture_is_named_by_the_script_that_makes_it():
    scripts = [*(ROOT / "docs" / "pictures").glob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    texts = "\n".join(f"{script.stem}.png\n{script.read_text(encoding='utf-8')}" for script in scripts)
    pictures = [*(ROOT / "docs" / "pictures").glob("*.png"), *(ROOT / "results").rglob("*.png")]
    assert len(pictures) > 10
    assert [picture.name for picture in pictures if picture.name not in texts] == []
