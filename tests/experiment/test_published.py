import os
import re
from pathlib import Path

import pytest

from onepeak.experiment.published import published_figure, published_figures
from onepeak.methods.catalog import METHODS

COLUMNS = {"iciar": (1, 0), "hci": (1, 1), "afad-lite": (2, 0), "afad-full": (2, 1), "fgnet": (2, 2)}
"""The table and the pair of columns in which a data set stands."""


@pytest.fixture(scope="module")
def printed():
    """The tables of the paper's own source: for each method its cells, a pair (mean, deviation) or None."""
    shared = Path(os.environ.get("ONEPEAK_SHARED", Path(__file__).parents[3] / "shared"))
    source = shared / "paper/paper.tex"
    if not source.exists():
        pytest.skip(f"needs {source}; set ONEPEAK_SHARED to the folder that holds paper/")
    tables = re.findall(r"\\begin\{table\*\}.*?\\end\{table\*\}", source.read_text(), re.DOTALL)
    return {number: _rows(table) for number, table in enumerate(tables, start=1)}


def _rows(table):
    rows = {}
    for line in table.splitlines():
        name, *cells = line.split("&")
        method = name.strip().partition(" ")[0].lower()
        if cells and method in METHODS:
            found = [re.search(r"([\d.]+) \\pm ([\d.]+)", cell) for cell in cells]
            rows[method] = [match and tuple(map(float, match.groups())) for match in found]
    return rows


def test_every_figure_is_as_the_paper_prints_it(printed):
    expected = {}
    for dataset, (table, place) in COLUMNS.items():
        for method, cells in printed[table].items():
            for metric, cell, unit in zip(("mae", "soi_predicted"), cells[2 * place :], (1, 100), strict=False):
                if cell is not None:
                    expected[table, dataset, method, metric] = pytest.approx([value / unit for value in cell])
    found = {
        (each.table, each.dataset, each.method, each.metric): [each.mean, each.std] for each in published_figures()
    }
    assert found == expected


def test_there_are_two_figures_a_method_and_data_set_but_for_poisson_on_many_ages():
    assert len(published_figures()) == 2 * (7 * 5 - 2)
    assert published_figure("fgnet", "po", "mae") is None
    assert published_figure("afad-full", "po", "soi_predicted") is None


def test_a_figure_is_found_by_its_place():
    found = published_figure("iciar", "ren", "soi_predicted")
    assert (found.table, found.mean, found.std) == (1, 0.5494, 0.0138)
    assert published_figure("biopsies", "elb", "mae") is None
    assert published_figure("fgnet", "elb", "accuracy") is None
