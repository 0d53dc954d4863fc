import json
import os
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from onepeak.experiment.published import computed_as_printed, published_figure, published_figures
from onepeak.methods.catalog import METHODS
from onepeak.training.presets import PAPER_BY_SET

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


def test_a_figure_is_found_by_its_place():
    found = published_figure("iciar", "ren", "soi_predicted")
    assert (found.table, found.mean, found.std) == (1, 0.5494, 0.0138)
    assert published_figure("biopsies", "elb", "mae") is None
    assert published_figure("fgnet", "elb", "accuracy") is None
    assert len(published_figures()) == 2 * (7 * 5 - 2)  # Poisson has none on many ages
    assert published_figure("fgnet", "po", "mae") is published_figure("afad-full", "po", "soi_predicted") is None


def same(dataset, method, *, variant="corrected", settings=None, precision="32-true", record=None, **recipe):
    """Whether a run with the paper's recipe, but for these changes, is behind its figure."""
    recorded = {**json.loads(json.dumps(asdict(PAPER_BY_SET[dataset]))), "select": "as_published", **recipe}
    known = {"settings": settings or {}, "recipe": recorded, "precision": precision, **(record or {})}
    return computed_as_printed(dataset, method, variant=variant, **known)


def test_the_papers_own_recipe_is_behind_its_figures_and_another_one_is_not():
    for dataset in COLUMNS:
        settings = {"t": 4.5, "growth": 1.01} if dataset == "afad-full" else {}
        assert same(dataset, "elb", settings=settings)
    for changes in ({"epochs": 200}, {"nesterov": True, "evaluation_batch_size": 64}):
        assert same("fgnet", "elb", **changes)
    for changes in ({"epochs": 199}, {"epochs": 1001}, {"select": "last"}, {"ema": 0.998}, {"step_every": 20}):
        assert not same("fgnet", "elb", **changes)
    crop = {"crop": 224, "horizontal_flip": True, "vertical_flip": False, "colour_jitter": None}
    assert not same("fgnet", "elb", augment=crop)
    assert not same("fgnet", "ce", precision="bf16-mixed")
    assert same("afad-full", "pn", epochs=80)  # the two that the paper trains so long
    assert not same("afad-full", "ce", epochs=80)


def test_the_epoch_is_chosen_as_the_published_code_does_for_the_method():
    for dataset, method, select, expected in [
        ("fgnet", "elb", "mae", True),
        ("fgnet", "elb", "loss", False),
        ("fgnet", "ce", "mae", False),
        ("fgnet", "ce", "loss", True),
        ("hci", "pn", "accuracy", True),
        ("hci", "pn", "mae", False),
        ("iciar", "elb", "mae", False),
        ("iciar", "ld", "as_published", True),
    ]:
        assert same(dataset, method, variant="as_published", select=select) == expected


def test_other_splits_networks_and_random_weights_are_not_behind_the_papers_figure():
    paper = {"backbone": "resnet18", "pooling": "wildcat"}
    for record in (
        *({"protocol": f"fgnet-{name}"} for name in ("code", "authors", "paper")),
        {"network": {}},
        {"network": paper},
        {"weights": "resnet18.safetensors"},
    ):
        assert same("fgnet", "elb", record=record)
    for record in (
        *({"protocol": name} for name in ("afad-code", "kfold", "mine.csv")),
        {"network": paper | {"pooling": "average"}},
        {"network": paper | {"backbone": "resnet34"}},
        {"weights": None},
        {"weights": ""},
    ):
        assert not same("fgnet", "elb", record=record)
