"""A list whose column of images has a name of its own, through every command that takes lists."""

import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from onepeak.training.model_files import load_description


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    """Thirty images, named by the column `scan`; another column names images too."""
    folder = tmp_path_factory.mktemp("scans")
    pixels = np.random.default_rng(0).integers(0, 255, (30, 16, 16, 3), np.uint8)
    for number, image in enumerate(pixels):
        Image.fromarray(image).save(folder / f"{number:02}.png")
    names = [f"{number:02}.png" for number in range(30)]
    masks = [f"masks/none-{name}" for name in names]  # by its name alone a file would be found
    pd.DataFrame({"scan": names, "mask": masks, "label": np.arange(30) % 3}).to_csv(folder / "scans.csv", index=False)
    return folder / "scans.csv"


TINY = ("--epochs", 1, "--backbone", "small", "--device", "cpu", "--quiet")


@pytest.mark.usefixtures("here", "no_pages")
def test_train_evaluate_predict_and_compare_take_the_column(run, scans, tmp_path):
    model, cache = tmp_path / "model", ("--cache", tmp_path / "cache")
    flags = ("--path", "scan", "--method", "ce", "--out", model, "--logger", "none", *TINY, *cache)
    assert run("train", scans, *flags)[0] == 0
    assert load_description(model).path == "scan"
    status, output, _ = run("evaluate", model, scans, "--part", "test", "--json", "--device", "cpu")
    assert (status, json.loads(output)["trained_on"]) == (0, 0)
    status, output, _ = run("predict", model, scans, "--csv", "--device", "cpu")
    assert (status, len(output.splitlines())) == (0, 31)  # the model remembers the column
    status, _, errors = run("predict", model, scans, "--path", "scam", "--device", "cpu")
    assert (status, "lists with a column `scam`" in errors) == (2, True)
    flags = ("--path", "scan", "--methods", "ce", "--splits", 1, "--folds", 1, "--out", tmp_path / "all", *TINY, *cache)
    assert run("compare", scans, *flags)[0] == 0
    assert 'path = "scan"' in (tmp_path / "all" / "config.toml").read_text()


def test_splits_takes_the_column_and_names_the_flag_without_it(run, scans):
    status, output, _ = run("splits", scans, "--path", "scan", "--json")
    assert (status, json.loads(output)["items"]) == (0, 30)
    status, _, errors = run("splits", scans)
    assert status == 2
    assert (
        "The column 'scan' names images, such as '00.png': give it as `path` (--path scan), or leave it out" in errors
    )
