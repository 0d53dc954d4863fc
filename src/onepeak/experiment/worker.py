"""A worker process: receives runs through its pipe and trains them until there are no more."""

import faulthandler
import gc
import os
import signal
import sys
import threading
import traceback
from collections import Counter
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from onepeak.experiment.events import EpochDone, Event, Failed
from onepeak.experiment.grid import Run
from onepeak.experiment.opened import Opened
from onepeak.experiment.task import failed_by, train_task

LOGS = "logs"


@dataclass(frozen=True, kw_only=True, eq=False)
class Workplace:
    """The arguments of a worker process."""

    opened: Opened
    folder: Path
    device: str
    threads: int
    lanes: int
    """The most runs it trains at once."""
    finds_room: bool
    """Whether it reports how many runs fit, with `Room`; it gets only one run until then."""
    since: float
    """When the comparison began."""


@dataclass(frozen=True)
class Ready:
    """Sent when a worker has started: later failures are caused by its runs."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """Sent when a worker knows how many runs fit on its device."""

    lanes: int


def work(connection: "Connection[Any, Any]", place: Workplace) -> None:
    """Trains the runs that arrive through the pipe and sends back every event; a run's last event says how it ended.

    The process ends when it is told to and all its runs have ended, or when its parent is gone.
    """
    import torch

    from onepeak.training.devices import make_fabric
    from onepeak.training.pack import lanes

    _behave(place.folder, packed=place.lanes > 1)
    torch.set_num_threads(place.threads)
    voice = _Voice(connection, place)
    voice.send(Ready())

    def train(run: Run) -> None:
        alone = place.lanes == 1
        try:
            fabric = make_fabric(device=place.device, precision=place.opened.experiment.precision)
            end: Event = train_task(
                run, place.opened, place.folder, fabric=fabric, report=voice.tell, since=place.since, alone=alone
            )
        except Exception as error:  # an unusable folder; a lane would never report it
            traceback.print_exc()
            end = failed_by(run, error)
        if isinstance(end, Failed) and end.out_of_memory:
            gc.collect()  # the traceback may keep the run's memory in a reference cycle
        voice.tell(end)

    if place.lanes == 1:
        while (run := connection.recv()) is not None:
            train(run)
    else:
        with lanes(place.lanes, torch.device(place.device)) as pool:
            while (run := connection.recv()) is not None:
                pool.submit(train, run)
    os._exit(0)  # everything is on disk; a regular exit of torch takes seconds


class _Voice:
    """Sends messages to the parent, from any thread."""

    def __init__(self, connection: "Connection[Any, Any]", place: Workplace) -> None:
        self.connection, self.place = connection, place
        self.speaking = threading.Lock()
        self.epochs: Counter[str] = Counter()
        self.knows_room = not place.finds_room

    def tell(self, event: Event) -> None:
        """Sends an event and, once the first run is well under way, how many runs fit."""
        with self.speaking:
            self.send(event)
            self.epochs[event.run.name] += isinstance(event, EpochDone)
            if not self.knows_room and self.epochs[event.run.name] == 2:  # the second epoch is the first one recorded
                self.knows_room = True
                self.send(self.room())

    def send(self, content: object) -> None:
        try:
            self.connection.send(content)
        except OSError:  # the parent is gone; the checkpoint remains
            os._exit(1)

    def room(self) -> Room:
        import torch

        from onepeak.training.pack import lanes_that_fit

        device = torch.device(self.place.device)
        store = self.place.opened.prepared.store
        shared = store.num_bytes if store is not None and store.fits(device) else 0
        return Room(lanes=min(self.place.lanes, lanes_that_fit(device, shared=shared)))


def _behave(folder: Path, *, packed: bool) -> None:
    """Leaves Ctrl-C to the parent, redirects output to a log file, and ends the worker with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A clean exit removes half-written files. Runs in threads cannot be interrupted; theirs are removed when they
    # resume.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(1) if packed else sys.exit(1))
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
    """The file that a worker's output goes to."""
    return folder / LOGS / f"worker-{number}.log"
