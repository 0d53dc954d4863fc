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


def test_there_are_two_figures_a_method_and_data_set_but_for_poisson_on_many_ages():
    assert len(published_figures()) == 2 * (7 * 5 - 2)
    assert published_figure("fgnet", "po", "mae") is None
    assert published_figure("afad-full", "po", "soi_predicted") is None


def test_a_figure_is_found_by_its_place():
    found = published_figure("iciar", "ren", "soi_predicted")
    assert (found.table, found.mean, found.std) == (1, 0.5494, 0.0138)
    assert published_figure("biopsies", "elb", "mae") is None
    assert published_figure("fgnet", "elb", "accuracy") is None


def as_recorded(dataset, **changes):
    return {**json.loads(json.dumps(asdict(PAPER_BY_SET[dataset]))), "select": "as_published", **changes}


@pytest.mark.parametrize("dataset", COLUMNS)
def test_the_papers_own_recipe_is_the_same(dataset):
    given = {"t": 4.5, "growth": 1.01} if dataset == "afad-full" else {}
    assert computed_as_printed(dataset, "elb", variant="corrected", settings=given, recipe=as_recorded(dataset))


def test_another_recipe_is_not_behind_the_papers_figure():
    for changes, same in [
        ({"epochs": 200}, True),
        ({"epochs": 199}, False),
        ({"epochs": 1001}, False),
        ({"nesterov": True, "evaluation_batch_size": 64}, True),
        ({"select": "last"}, False),
        ({"ema": 0.998}, False),
        ({"step_every": 20}, False),
        ({"augment": {"crop": 224, "horizontal_flip": True, "vertical_flip": False, "colour_jitter": None}}, False),
    ]:
        recipe = as_recorded("fgnet", **changes)
        assert computed_as_printed("fgnet", "elb", variant="corrected", settings={}, recipe=recipe) == same


def test_another_precision_is_not_behind_the_papers_figure():
    known = {"variant": "corrected", "settings": {}, "recipe": as_recorded("fgnet")}
    assert computed_as_printed("fgnet", "ce", **known, precision="32-true")
    assert not computed_as_printed("fgnet", "ce", **known, precision="bf16-mixed")


def test_the_epoch_is_chosen_as_the_published_code_does_for_the_method():
    for dataset, method, select, same in [
        ("fgnet", "elb", "mae", True),
        ("fgnet", "elb", "loss", False),
        ("fgnet", "ce", "mae", False),
        ("fgnet", "ce", "loss", True),
        ("hci", "pn", "accuracy", True),
        ("hci", "pn", "mae", False),
        ("iciar", "elb", "mae", False),
        ("iciar", "ld", "as_published", True),
    ]:
        known = {"variant": "as_published", "settings": {}, "recipe": as_recorded(dataset, select=select)}
        assert computed_as_printed(dataset, method, **known) == same


def test_other_splits_networks_and_random_weights_are_not_behind_the_papers_figure():
    for record, same in [
        ({}, True),
        ({"protocol": "fgnet-code"}, True),
        ({"protocol": "fgnet-authors"}, True),
        ({"protocol": "fgnet-paper"}, True),
        ({"protocol": "afad-code"}, False),
        ({"protocol": "kfold"}, False),
        ({"protocol": "mine.csv"}, False),
        ({"network": {}}, True),
        ({"network": {"backbone": "resnet18", "pooling": "wildcat"}}, True),
        ({"network": {"backbone": "resnet18", "pooling": "average"}}, False),
        ({"network": {"backbone": "resnet34", "pooling": "wildcat"}}, False),
        ({"weights": "resnet18.safetensors"}, True),
        ({"weights": None}, False),
        ({"weights": ""}, False),
    ]:
        known = {"variant": "corrected", "settings": {}, "recipe": as_recorded("fgnet")}
        assert computed_as_printed("fgnet", "elb", **known, **record) == same


def test_of_afad_full_80_epochs_do_for_the_two_that_the_paper_trains_so_long():
    for method, same in (("pn", True), ("ce", False)):
        known = {"variant": "corrected", "settings": {}, "recipe": {"epochs": 80}}
        assert computed_as_printed("afad-full", method, **known) == same
