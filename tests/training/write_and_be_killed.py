"""Writes checkpoints until it is killed, then one larger than files may be: run by `test_checkpoint.py`."""

import json
import random
import resource
import sys
from pathlib import Path

import torch

from onepeak._core.files import NotWrittenError
from onepeak.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from training.killing import run_in_child


def made_checkpoint(epoch, *, size=10):
    """A checkpoint whose every weight tells its epoch."""
    weight = torch.full((size,), float(epoch))
    return Checkpoint(
        epoch=epoch,
        network={"weight": weight},
        optimizer={"state": {0: {"momentum_buffer": weight}}, "param_groups": [{"lr": 0.1, "params": [0]}]},
        scaler=None,
        average=None,
        best={"weight": weight},
        best_epoch=epoch - 1,
        best_value=0.5,
        history=[{"epoch": 0, "train_loss": 1.5}],
        fingerprint={"run": "mine"},
    )


def main(folder, times):
    path = Path(folder, "checkpoint.pt")
    chance = random.Random(0)

    def write_for_ever():
        found = load_checkpoint(path, fingerprint={"run": "mine"})
        epoch = 0 if found is None else found.epoch
        while True:
            epoch += 1
            save_checkpoint(made_checkpoint(epoch, size=300_000), path)

    seen = []
    for _ in range(int(times)):
        status = run_in_child(write_for_ever, kill_after=chance.uniform(0.02, 0.12))
        found = load_checkpoint(path, fingerprint={"run": "mine"})
        whole = found is None or bool((found.network["weight"] == found.epoch).all())
        seen.append({"status": status, "epoch": 0 if found is None else found.epoch, "whole": whole})
    full = Path(folder, "full", "checkpoint.pt")
    full.parent.mkdir()
    save_checkpoint(made_checkpoint(1), full)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))  # the kernel then refuses, as it does on a full disk
    message = ""
    try:
        save_checkpoint(made_checkpoint(2, size=300_000), full)
    except NotWrittenError as error:
        message = str(error)
    sys.stdout.write(json.dumps({"kills": seen, "message": message}))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(*sys.argv[1:])
