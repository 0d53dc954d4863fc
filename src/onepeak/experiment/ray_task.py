"""The task on a node of a Ray cluster: trains one run in a temporary folder and returns its files."""

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
    """The return value of a task."""

    outcome: Finished | Failed | Elsewhere
    files: dict[str, bytes]


def train_on_node(
    run: Run, shipment: Shipment, pieces: list[Any] | None, mailbox: Any, *, device: str, threads: int
) -> Answer | None:
    """Trains a run from its beginning; nothing remains on the node.

    Args:
        run: The run to train.
        shipment: The experiment.
        pieces: References to the pieces of its images, for a node that does not see them.
        mailbox: The actor that receives every event, see `Mailbox`.
        device: "cpu", or "cuda" for the GPU that Ray assigned to this task.
        threads: How many threads to compute with.

    Returns:
        How it ended, and its files; None if the pieces are needed and were not given.
    """
    _leave_other_teams()
    torch.set_num_threads(threads)

    def report(event: Event) -> None:
        mailbox.post.remote(pickle.dumps(event))  # without waiting for its arrival

    with scratch_folder() as folder:
        opened = shipment.unpack(folder, pieces=None if pieces is None else lambda: _fetched(pieces))
        if opened is None:
            return None
        fabric = make_fabric(device=device, precision=opened.experiment.precision)
        outcome = train_task(run, opened, folder, fabric=fabric, report=report)
        return Answer(outcome=outcome, files=read_run_files(run.folder(folder)))


def _fetched(pieces: list[Any]) -> Iterator[bytes]:
    ray = require("ray", extra="ray", purpose="The executor ray")
    for piece in pieces:  # one at a time, so that a small object store suffices
        yield ray.get(piece)


def _leave_other_teams() -> None:
    """Hides SLURM's and torchrun's variables: a run is one process, however its node was started."""
    for name in list(os.environ):
        if name.startswith("SLURM_") or name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"):
            del os.environ[name]


def read_run_files(folder: Path) -> dict[str, bytes]:
    """Reads every file that a run leaves, by name; files needed for training only are left out."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != CHECKPOINT and not path.name.startswith(".")
    }


def write_run_files(files: dict[str, bytes], folder: Path) -> None:
    """Writes the files to the run's folder, the result last: a folder with a result is complete."""
    for name in sorted(files, key=lambda name: name == RESULT):
        write_in_one_step(folder / name, partial(Path.write_bytes, data=files[name]))
    if RESULT in files:
        (folder / CHECKPOINT).unlink(missing_ok=True)  # left by an earlier start elsewhere
