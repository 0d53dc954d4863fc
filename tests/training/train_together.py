"""Two processes that train one network together: run by `test_distributed.py`."""

import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import torch

from onepeak.training.devices import make_fabric
from onepeak.training.prepare import prepare
from onepeak.training.run import train_run
from training.planted import RECIPE, WEIGHTS, planted_table, settings_of, split_of


def main(folder, *methods):
    torch.set_num_threads(1)
    warnings.simplefilter("error")
    fabric = make_fabric(device="cpu")
    assert fabric.world_size == int(os.environ["WORLD_SIZE"])
    for method in methods:
        settings = settings_of(method, replace(RECIPE, class_weight=WEIGHTS))
        train_run(settings, prepare(planted_table(), RECIPE), split_of(101), Path(folder, method), fabric=fabric)


if __name__ == "__main__":
    second = os.fork()
    rank = "0" if second else "1"
    os.environ |= {"RANK": rank, "LOCAL_RANK": rank}  # as torchrun tells them
    main(*sys.argv[1:])
    if second:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(second, 0)[1]))
