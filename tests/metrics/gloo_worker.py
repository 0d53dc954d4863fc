"""Two processes that share the samples of the metrics: run by `test_distributed.py`, each writes all values."""

import json
import os
import sys
import warnings
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

from onepeak.metrics.catalog import NAMES, collection


def shared_values(rank, place):
    """All metrics as one process knows them, for one way after another of sharing out the same samples."""
    meeting = f"file://{place / 'meeting'}"
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2, timeout=timedelta(seconds=60))
    data = torch.load(place / "samples.pt")
    metrics = collection(data["log_probs"].shape[-1], names=NAMES)
    values = []
    for ranks in data["ranks"]:
        metrics.reset()
        for batch in (ranks == rank).nonzero().squeeze(-1).split(4):
            metrics.update(data["log_probs"][batch], data["labels"][batch], data["predicted"][batch])
        values.append({name: value.item() for name, value in metrics.compute().items()})
    (place / f"{rank}.json").write_text(json.dumps(values))
    dist.destroy_process_group()


def main(place):
    warnings.simplefilter("error")
    child = os.fork()  # so that torch is imported once for both
    if child:
        shared_values(0, place)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    shared_values(1, place)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
