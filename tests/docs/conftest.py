"""What the code on the pages finds in its folder: pictures, a list of them, a table."""

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from onepeak.methods.catalog import METHODS

GRADES = ("mild", "moderate", "severe")


@pytest.fixture
def material(tmp_path, monkeypatch):
    """A folder with `photos/`, `scans.csv` and `patients.csv`, which is the current one."""
    rng = np.random.default_rng(0)
    listed = []
    for grade, name in enumerate(GRADES):
        folder = tmp_path / "photos" / name
        folder.mkdir(parents=True)
        for number in range(20):
            pixels = rng.integers(0, 64, (32, 32, 3)) + 80 * grade
            Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{number}.png")
            listed.append({"path": f"photos/{name}/{number}.png", "label": name, "group": f"patient{number % 10}"})
    pd.DataFrame(listed).to_csv(tmp_path / "scans.csv", index=False)
    stages = np.arange(240) % 4
    columns = {"size": stages + 0.4 * rng.standard_normal(240), "age": rng.integers(30, 90, 240)}
    columns["sex"] = np.array(["f", "m"])[stages // 2 ^ (rng.random(240) < 0.3)]
    columns["drugs"] = np.array(["None", "1", "2", "2"])[stages]  # pandas would read numbers and gaps
    names = np.array(["I", "II", "III", "IV"])[stages]
    pd.DataFrame({**columns, "stage": names}).to_csv(tmp_path / "patients.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def _as_before():
    """Methods that a page adds are gone after it, and so is what it did to the threads."""
    known, threads = dict(METHODS._records), torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    METHODS._records.clear()
    METHODS._records.update(known)
    torch.set_num_threads(threads)
