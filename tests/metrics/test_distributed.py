import multiprocessing
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist

from onepeak.metrics.catalog import NAMES, collection

GENERATOR = torch.Generator().manual_seed(3)
LOG_PROBS = torch.randn(23, 6, generator=GENERATOR).log_softmax(dim=-1)
LABELS, PREDICTED = torch.randint(6, (2, 23), generator=GENERATOR)
# unequal shares in several batches; then a process that is left without a sample
RANKS = torch.tensor([[0] * 9 + [1] * 14, [1] * 23])


def values(metrics):
    return {name: value.item() for name, value in metrics.compute().items()}


def shared_values(rank, folder, results):
    """All metrics as one of two processes knows them, for each way to share the samples."""
    address = f"file://{folder / 'address'}"
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2, timeout=timedelta(seconds=60))
    metrics = collection(6, names=NAMES)
    for ranks in RANKS:
        metrics.reset()
        for batch in (ranks == rank).nonzero().squeeze(-1).split(4):
            metrics.update(LOG_PROBS[batch], LABELS[batch], PREDICTED[batch])
        results.put(values(metrics))
    dist.destroy_process_group()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of a fork beside other threads
def test_two_processes_give_the_value_of_one_however_they_share_the_samples(tmp_path):
    forked = multiprocessing.get_context("fork")  # a new process would import torchmetrics again, for ten seconds
    results = forked.Queue()
    processes = [forked.Process(target=shared_values, args=(rank, tmp_path, results)) for rank in range(2)]
    for process in processes:
        process.start()
    found = [results.get(timeout=60) for _ in range(2 * len(RANKS))]
    for process in processes:
        process.join()
    alone = collection(6, names=NAMES)
    alone.update(LOG_PROBS, LABELS, PREDICTED)
    assert found == [pytest.approx(values(alone), rel=1e-12)] * 4
