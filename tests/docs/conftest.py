"""What code on the pages finds in its folder."""

import runpy
import sys

import pytest
import torch

from docs.pages import ROOT
from onepeak.methods.catalog import CONSTRAINTS, METHODS


@pytest.fixture
def made(monkeypatch):
    """Makes the data that pages and examples are tried on, as a reader does: `made(folder)`."""

    def make(folder):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "argv", ["make_data.py", str(folder)])
            runpy.run_path(str(ROOT / "examples" / "make_data.py"), run_name="__main__")

    return make


@pytest.fixture
def material(tmp_path, monkeypatch, made):
    """The current folder has these data."""
    made(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def _as_before():
    """Methods and constraints that a page adds are gone after it, and so is what it did to the threads."""
    known, threads = [(each, dict(each._records)) for each in (METHODS, CONSTRAINTS)], torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    for catalog, records in known:
        catalog._records.clear()
        catalog._records.update(records)
    torch.set_num_threads(threads)
