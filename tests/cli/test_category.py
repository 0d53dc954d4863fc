"""A column of names in digits, as `train`, `compare`, `predict` and `evaluate` meet it."""

import json

import pandas as pd
import pytest

import onepeak

LOOK = ("--label", "grade", "--epochs", 2, "--device", "cpu")
HINT = "Note: few different integers in site (3): if they are names, say so with `category` (--category COLUMN)\n"


@pytest.fixture
def sites(table, tmp_path):
    """The table with the number of a site in every row."""
    rows = pd.read_csv(table)
    rows.assign(site=[1 + place % 3 for place in range(len(rows))]).to_csv(tmp_path / "sites.csv", index=False)
    return tmp_path / "sites.csv"


def test_train_says_what_columns_are_read_as_and_takes_a_category_that_the_model_remembers(run, sites, tmp_path):
    train = ("train", sites, "--method", "ce", *LOOK, "--logger", "none")
    status, _, errors = run(*train, "--out", tmp_path / "numbers")
    assert status == 0, errors
    assert errors.count("Note: read as numbers: size, tone, site\n") == errors.count(HINT) == 1
    status, _, errors = run(*train, "--category", "site", "--out", tmp_path / "names")
    assert status == 0, errors
    assert "Note: read as numbers: size, tone\nNote: read as categories: site\n" in errors
    assert HINT not in errors
    model = onepeak.load(tmp_path / "names")
    assert model.description.table.categories == {"site": ("1", "2", "3")}

    status, output, errors = run("predict", tmp_path / "names", sites, "--json", "--device", "cpu")
    assert (status, "code" in errors) == (0, False)
    said = [json.loads(line)["label"] for line in output.splitlines()]
    assert said == model.predict(pd.read_csv(sites)).labels.tolist()
    status, output, errors = run("evaluate", tmp_path / "names", sites, "--json", "--device", "cpu")
    assert status == 0, errors
    assert json.loads(output)["items"] == 80
    assert not any("read as" in note for note in json.loads(output)["notes"])


def test_compare_takes_it_and_its_report_opens_the_same_data(run, sites, tmp_path, here):
    flags = ("compare", sites, "--methods", "ce", *LOOK, "--folds", 1, "--out", tmp_path / "out")
    status, _, errors = run(*flags, "--category", "site")
    assert status == 0, errors
    assert errors.count("Note: read as categories: site\n") == 1
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "The data differ from those of the runs" not in page
    status, _, errors = run(*flags)
    assert status == 2
    assert "the data differ (category is ['site'] there and not given here)" in errors
