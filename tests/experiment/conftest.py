"""The comparisons in processes, made once for all tests that look at them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from onepeak.data.file_lock import locked
from onepeak.training.devices import make_fabric

HERE = Path(__file__).parent


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """As in the workers, so that the same run has the same bits here and there."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def fabric():
    return make_fabric(device="cpu")


@pytest.fixture(scope="session")
def compared(tmp_path_factory, worker_id):
    """The folder of all comparisons, and what was seen while they were made; once for all processes that test."""
    base = tmp_path_factory.getbasetemp()
    place = (base if worker_id == "master" else base.parent) / "compared"
    place.mkdir(exist_ok=True)
    facts = place / "facts.json"
    with locked(place / "lock"):
        if not facts.exists():
            facts.write_text(_compare_in_processes(place))
    return place, json.loads(facts.read_text())


def _compare_in_processes(place):
    paths = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(HERE / "compare_in_processes.py"), str(place)],
        env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=570,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
