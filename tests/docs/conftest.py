"""What code on the pages finds in its folder."""

import runpy
import shutil
import sys

import pytest
import torch

from docs.pages import ROOT
from onepeak.methods.catalog import CONSTRAINTS, METHODS


@pytest.fixture(scope="session")
def drawn(tmp_path_factory):
    """The data that pages and examples are tried on, made as a reader makes them."""
    folder = tmp_path_factory.mktemp("drawn")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["make_data.py", str(folder)])
        runpy.run_path(str(ROOT / "examples" / "make_data.py"), run_name="__main__")
    return folder


@pytest.fixture
def material(drawn, tmp_path, monkeypatch):
    """The current folder has a copy of these data."""
    shutil.copytree(drawn, tmp_path, dirs_exist_ok=True)
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
