import json
import socket
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from safetensors.torch import load_file

from forked import output_of
from onepeak.training.run import train_run
from training.planted import RECIPE, WEIGHTS, settings_of

METHODS = ("po", "lagrangian")  # po has weights of its own; lagrangian learns from what both processes see


def as_torchrun():
    """What torchrun tells both of two processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    common = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "0", "TORCHELASTIC_RUN_ID": "test"}
    return common | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}


def test_two_processes_train_as_one_with_the_same_global_batch(tmp_path, table, split, fabric):
    script = Path(__file__).with_name("train_together.py")
    output_of(script, tmp_path / "two", *METHODS, **as_torchrun())
    for method in METHODS:
        alone, together = tmp_path / "one" / method, tmp_path / "two" / method
        settings = settings_of(method, replace(RECIPE, class_weight=WEIGHTS))
        train_run(settings, table, split, alone, fabric=fabric)

        one, two = (load_file(folder / "model.safetensors") for folder in (alone, together))
        assert one.keys() == two.keys()
        for name, weights in one.items():
            assert two[name].numpy() == pytest.approx(weights.numpy(), abs=1e-5), name
        histories = [pd.read_csv(folder / "history.csv").drop(columns="seconds") for folder in (alone, together)]
        pd.testing.assert_frame_equal(*histories, rtol=1e-4, atol=1e-5)
        expected, found = (json.loads((folder / "result.json").read_text())["metrics"] for folder in (alone, together))
        for part in ("valid", "test"):
            assert found[part] == pytest.approx(expected[part], abs=1e-4)
