"""Trains one run whole, then the same run again and again with kills at random moments: run by `test_run_killed.py`."""

import json
import random
import sys
import time
from pathlib import Path

import lightning.fabric  # noqa: F401 - imported here, so that no child has to
import pandas  # noqa: F401
import pyarrow.parquet  # noqa: F401
import safetensors.torch  # noqa: F401
import torch
import torchmetrics  # noqa: F401

from onepeak.training.devices import make_fabric
from onepeak.training.prepare import prepare
from onepeak.training.run import train_run
from training.killing import KILLED, run_in_child
from training.planted import EVERYTHING, planted_table, settings_of, split_of


def main(folder, fewest_kills):
    data = prepare(planted_table(), EVERYTHING)
    split = split_of(101)
    settings = settings_of("elb", EVERYTHING, dropout=0.2, seed=5)
    chance = random.Random(0)

    def train(name):
        fabric = make_fabric(device="cpu")
        return lambda: train_run(settings, data, split, Path(folder, name), fabric=fabric, checkpoint_seconds=0)

    start = time.perf_counter()
    if run_in_child(train("whole")):
        sys.exit("the uninterrupted run failed")
    duration = time.perf_counter() - start

    kills = []
    while len(kills) < int(fewest_kills):
        name = f"killed{len(kills)}"
        status = KILLED
        while status == KILLED:
            status = run_in_child(train(name), kill_after=chance.uniform(0.05, 0.8) * duration)
            if status == KILLED:
                kills.append({"run": name, "resumable": Path(folder, name, "checkpoint.pt").exists()})
        if status:
            sys.exit(f"{name} failed after a kill")
    sys.stdout.write(json.dumps(kills))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(*sys.argv[1:])
