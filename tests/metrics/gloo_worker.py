"""One of several processes that share the samples of the metrics: run by `test_distributed.py`, writes all values."""

import json
import sys
import warnings

import torch
import torch.distributed as dist

from onepeak.metrics.catalog import NAMES, collection


def main(rank, world_size, meeting_place, samples):
    warnings.simplefilter("error")
    dist.init_process_group("gloo", init_method=f"file://{meeting_place}", rank=int(rank), world_size=int(world_size))
    data = torch.load(samples)
    metrics = collection(data["log_probs"].shape[-1], names=NAMES)
    values = []
    for ranks in data["ranks"]:  # one way after another of sharing out the same samples
        metrics.reset()
        for batch in (ranks == int(rank)).nonzero().squeeze(-1).split(4):
            metrics.update(data["log_probs"][batch], data["labels"][batch], data["predicted"][batch])
        values.append({name: value.item() for name, value in metrics.compute().items()})
    sys.stdout.write(json.dumps(values))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
