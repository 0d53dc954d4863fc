"""A worker process: receives runs through its pipe and trains them until there are no more."""

import contextlib
import faulthandler
import gc
import multiprocessing
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
from typing import Any, Literal, TypeAlias

from onepeak.experiment.compare import failed_by, train_task
from onepeak.experiment.events import Elsewhere, EpochDone, Event, Failed, Finished, Lost
from onepeak.experiment.plan import Run
from onepeak.experiment.prepared import PreparedExperiment

LOGS = "logs"


@dataclass(frozen=True, kw_only=True, eq=False)
class Workplace:
    """The arguments of a worker process."""

    prepared_experiment: PreparedExperiment
    folder: Path
    device: str
    threads: int
    lanes: int
    """The most runs it trains at once."""
    finds_room: bool
    """Whether it reports how many runs fit, with `Capacity`; it gets only one run until then."""
    since: float
    """When the comparison began."""


@dataclass(frozen=True)
class Ready:
    """Sent when a worker has started: later failures are caused by its runs."""


@dataclass(frozen=True, kw_only=True)
class Capacity:
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
            fabric = make_fabric(device=place.device, precision=place.prepared_experiment.experiment.precision)
            end: Event = train_task(
                run,
                place.prepared_experiment,
                place.folder,
                fabric=fabric,
                report=voice.tell,
                since=place.since,
                alone=alone,
            )
        except Exception as error:  # an unusable folder; a lane would never report it
            with contextlib.suppress(OSError):  # the disk of the log is full
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

    def room(self) -> Capacity:
        import torch

        from onepeak.training.pack import lanes_that_fit

        device = torch.device(self.place.device)
        store = self.place.prepared_experiment.prepared.store
        shared = store.num_bytes if store is not None and store.fits(device) else 0
        return Capacity(lanes=min(self.place.lanes, lanes_that_fit(device, shared=shared)))


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


StartMethod: TypeAlias = Literal["spawn", "fork"]

GOODBYE = 10.0
"""Seconds that a worker has to end by itself."""


class WorkerProcess:
    """One process and the pipe to it."""

    def __init__(self, place: Workplace, start: StartMethod) -> None:
        context = multiprocessing.get_context("fork") if start == "fork" else multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, place), daemon=True)
        self.process.start()
        theirs.close()  # so that the pipe closes when the process ends
        self.log = log_of(place.folder, self.process.pid)
        """The file that all its output goes to."""
        self.device = place.device
        self.lanes = 1 if place.finds_room else place.lanes
        """How many runs it can train at once."""
        self.runs: dict[str, Run] = {}
        self.begun: dict[str, Run] = {}
        """Its runs that it has reported on."""
        self.accompanied: set[str] = set()
        """The names of runs that share, or shared, the process with another run, which may cause their failure."""
        self.is_ready = False
        """Whether it has started; if it ends earlier, that is not caused by its runs."""
        self.is_spent = False
        """Whether an unforeseen error may have left it (above all its GPU) unfit for another run."""

    def give(self, run: Run) -> None:
        """Sends a run; a dead worker is noticed when its pipe is read."""
        with contextlib.suppress(OSError):
            self.connection.send(run)
        self.runs[run.name] = run
        if len(self.runs) > 1:
            self.accompanied |= self.runs.keys()

    def heard(self, event: Event) -> None:
        """Records an event of a run."""
        name = event.run.name
        if isinstance(event, Finished | Failed | Elsewhere | Lost):
            del self.runs[name]
            self.begun.pop(name, None)
            self.accompanied.discard(name)
            self.is_spent |= isinstance(event, Failed) and event.unforeseen
        else:
            self.begun[name] = event.run

    def dismiss(self) -> None:
        """Tells it to end when its runs have ended."""
        with contextlib.suppress(OSError):
            self.connection.send(None)

    def end(self) -> str:
        """Waits for the process, killing it if it does not end; returns how it ended, in words."""
        self.connection.close()
        self.process.join(GOODBYE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        code = self.process.exitcode or 0
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"

    def last_words(self) -> str:
        """Returns its last line of output, and where the rest is."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines() if self.log.exists() else []
        if not lines:
            return "It printed nothing: most often memory ran out, so try fewer --workers or a smaller batch."
        return f"Its last output was {lines[-1]!r}; all of it is in {self.log}."
