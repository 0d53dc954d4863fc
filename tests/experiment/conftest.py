"""The comparisons in processes, made once for all tests that look at them."""

import pytest

from experiment.tiny import made_once
from onepeak.training.devices import make_fabric


@pytest.fixture(scope="session")
def fabric():
    return make_fabric(device="cpu")


@pytest.fixture(scope="session")
def compared(tmp_path_factory, worker_id):
    """The folder of all comparisons in processes, and what was seen while they were made."""
    return made_once("compare_in_processes.py", tmp_path_factory, worker_id)
