"""A worker process from its parent's side: the pipe to it, its runs, and how it ended."""

import contextlib
import multiprocessing
import signal
from typing import Literal, TypeAlias

from onepeak.experiment.events import Elsewhere, Event, Failed, Finished, Lost
from onepeak.experiment.grid import Run
from onepeak.experiment.worker import Workplace, log_of, work

StartMethod: TypeAlias = Literal["spawn", "fork"]

GOODBYE = 10.0
"""Seconds that a worker has to end by itself."""


class WorkerProcess:
    """One process and the pipe to it.

    Args:
        place: The worker's arguments.
        start: How the process starts.
    """

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
