"""Trains one run whole, then the same run again and again with kills at random moments: run by `test_run.py`."""

import json
import random
import sys
import time
from pathlib import Path

import torch

from onepeak.training import loop
from onepeak.training.devices import make_fabric
from onepeak.training.prepare import prepare
from onepeak.training.run import train_run
from training.killing import KILLED, run_in_child
from training.planted import EVERYTHING, planted_table, settings_of, split_of


def time_of(work):
    start = time.perf_counter()
    if run_in_child(work):
        sys.exit("an uninterrupted run failed")
    return time.perf_counter() - start


def main(folder, fewest_kills):
    data = prepare(planted_table(), EVERYTHING)
    split = split_of(101)
    settings = settings_of("elb", EVERYTHING, dropout=0.2, seed=5)
    chance = random.Random(0)
    loop._PAUSE = 0.0  # a checkpoint after every epoch

    def train(name):
        fabric = make_fabric(device="cpu")
        return lambda: train_run(settings, data, split, Path(folder, name), fabric=fabric)

    duration = time_of(train("whole"))
    kills = []
    while sum(kill["resumable"] for kill in kills) < int(fewest_kills):
        name = f"killed{len(kills)}"
        tries, status = 0, KILLED
        while status == KILLED:
            status = run_in_child(train(name), kill_after=chance.uniform(0.05, 0.8) * duration)
            tries += 1
            if status == KILLED:
                kills.append({"run": name, "resumable": Path(folder, name, "checkpoint.pt").exists()})
        if status:
            sys.exit(f"{name} failed after a kill")
        if tries == 1:  # faster than the first: the machine was busy then
            duration = min(duration, time_of(train(f"{name}-again")))
    sys.stdout.write(json.dumps(kills))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(*sys.argv[1:])
