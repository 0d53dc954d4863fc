"""What happens on a node of a Ray cluster: one run is trained in a folder of its own, and its files are sent home."""

import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from onepeak._extras import require
from onepeak._one_step import write_in_one_step
from onepeak.experiment.events import Elsewhere, Event, Failed, Finished
from onepeak.experiment.grid import Run
from onepeak.experiment.scratch import scratch_folder
from onepeak.experiment.shipment import Shipment
from onepeak.experiment.task import train_task
from onepeak.training.devices import make_fabric
from onepeak.training.file_names import RESULT
from onepeak.training.run import CHECKPOINT


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What comes home."""

    outcome: Finished | Failed | Elsewhere
    files: dict[str, bytes]


def train_on_node(
    run: Run, shipment: Shipment, pieces: list[Any] | None, mailbox: Any, *, device: str, threads: int
) -> Answer | None:
    """Trains a run from its beginning; nothing of it stays on the node.

    Args:
        run: What to train.
        shipment: The experiment.
        pieces: References to the pieces of its images, for a node that does not see them.
        mailbox: The actor that is told of every event, see `Mailbox`.
        device: "cpu", or "cuda" for the GPU that Ray has given to this task.
        threads: How many threads to compute with.

    Returns:
        How it ended, and its files; None where the pieces are needed and were not given.
    """
    _leave_other_teams()
    torch.set_num_threads(threads)

    def report(event: Event) -> None:
        mailbox.post.remote(pickle.dumps(event))  # and no waiting for it to arrive

    with scratch_folder() as folder:
        opened = shipment.unpack(folder, pieces=None if pieces is None else lambda: _fetched(pieces))
        if opened is None:
            return None
        fabric = make_fabric(device=device, precision=opened.experiment.precision)
        outcome = train_task(run, opened, folder, fabric=fabric, report=report)
        return Answer(outcome=outcome, files=read_run_files(run.folder(folder)))


def _fetched(pieces: list[Any]) -> Iterator[bytes]:
    ray = require("ray", extra="ray", purpose="The executor ray")
    for piece in pieces:  # one at a time, so that a small object store is large enough
        yield ray.get(piece)


def _leave_other_teams() -> None:
    """Forgets that SLURM or torchrun started this node: a run is one process, whatever its node is part of."""
    for name in list(os.environ):
        if name.startswith("SLURM_") or name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"):
            del os.environ[name]


def read_run_files(folder: Path) -> dict[str, bytes]:
    """Every file that a run leaves behind, by its name; what served only its training is left out."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != CHECKPOINT and not path.name.startswith(".")
    }


def write_run_files(files: dict[str, bytes], folder: Path) -> None:
    """Puts them into the run's folder, the result last: a folder with a result is whole."""
    for name in sorted(files, key=lambda name: name == RESULT):
        write_in_one_step(folder / name, partial(Path.write_bytes, data=files[name]))
    if RESULT in files:
        (folder / CHECKPOINT).unlink(missing_ok=True)  # of an earlier start somewhere else
