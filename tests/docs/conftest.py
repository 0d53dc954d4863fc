"""What code on the pages finds in its folder."""

import runpy
import sys

import pytest
import torch

from docs.pages import ROOT
from onepeak.methods.catalog import METHODS


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
    """Methods that a page adds are gone after it, and so is what it did to the threads."""
    known, threads = dict(METHODS._records), torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    METHODS._records.clear()
    METHODS._records.update(known)
    torch.set_num_threads(threads)
