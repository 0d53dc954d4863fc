import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from onepeak.metrics.catalog import NAMES, collection


def test_two_processes_give_the_value_of_one_however_they_share_the_samples(tmp_path):
    generator = torch.Generator().manual_seed(3)
    data = {
        "log_probs": torch.randn(23, 6, generator=generator).log_softmax(dim=-1),
        "labels": torch.randint(6, (23,), generator=generator),
        "predicted": torch.randint(6, (23,), generator=generator),
        # unlike shares in several batches; then a process that is left without a sample
        "ranks": torch.tensor([[0] * 9 + [1] * 14, [1] * 23]),
    }
    torch.save(data, tmp_path / "samples.pt")
    worker = Path(__file__).with_name("gloo_worker.py")
    done = subprocess.run(
        [sys.executable, worker, tmp_path],
        capture_output=True,
        text=True,
        timeout=180,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr

    alone = collection(6, names=NAMES)
    alone.update(data["log_probs"], data["labels"], data["predicted"])
    expected = {name: value.item() for name, value in alone.compute().items()}
    assert set(expected) == set(NAMES)
    for rank in range(2):
        for values in json.loads((tmp_path / f"{rank}.json").read_text()):
            assert values == pytest.approx(expected, rel=1e-12)
