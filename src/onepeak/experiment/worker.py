"""A worker process: takes runs from its pipe and trains them until there are no more."""

import faulthandler
import os
import signal
import sys
import threading
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from onepeak.experiment.events import Event, Failed
from onepeak.experiment.grid import Run
from onepeak.experiment.opened import Opened
from onepeak.experiment.task import train_task

LOGS = "logs"


@dataclass(frozen=True, kw_only=True, eq=False)
class Workplace:
    """What a worker is given when it starts."""

    opened: Opened
    folder: Path
    device: str
    threads: int
    since: float
    """When the comparison began."""


def work(connection: "Connection[Any, Any]", place: Workplace) -> None:
    """Trains what comes through the pipe and sends back every event; the last of a run says how it ended.

    The process ends when it is told so, when its parent is gone, and after an error that was not foreseen: what that
    left behind (on a GPU, most of all) must not spoil the next run, for which there will be a fresh process.
    """
    import torch

    from onepeak.training.devices import make_fabric

    _behave(place.folder)
    torch.set_num_threads(place.threads)
    fabric = make_fabric(device=place.device, precision=place.opened.experiment.precision)

    def report(event: Event) -> None:
        try:
            connection.send(event)
        except OSError:  # nobody listens any more; the checkpoint is what is kept
            os._exit(1)

    while True:
        run: Run | None = connection.recv()
        if run is None:
            os._exit(0)  # everything is on the disk; to take torch apart first would last seconds
        outcome = train_task(run, place.opened, place.folder, fabric=fabric, report=report, since=place.since)
        report(outcome)
        if isinstance(outcome, Failed) and outcome.unforeseen:
            return


def _behave(folder: Path) -> None:
    """Ctrl-C is the parent's to handle; whatever is printed goes to a file; no worker outlives its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that half-written files are removed
    log = log_of(folder, os.getpid())
    log.parent.mkdir(exist_ok=True)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    faulthandler.enable()
    parent = parent_process()
    if parent is not None:

        def follow() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=follow, daemon=True).start()


def log_of(folder: Path, number: int | None) -> Path:
    """Where a worker's output goes."""
    return folder / LOGS / f"worker-{number}.log"
