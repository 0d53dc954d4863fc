"""A worker process as the one that started it sees it: the pipe to it, its runs, and how it ended."""

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
        place: What it is given when it starts.
        start: How it starts.
    """

    def __init__(self, place: Workplace, start: StartMethod) -> None:
        context = multiprocessing.get_context("fork") if start == "fork" else multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, place), daemon=True)
        self.process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        self.log = log_of(place.folder, self.process.pid)
        """Where all that it prints goes."""
        self.device = place.device
        self.lanes = 1 if place.finds_room else place.lanes
        """How many runs it can be given at once."""
        self.runs: dict[str, Run] = {}
        self.begun: dict[str, Run] = {}
        """Those of its runs of which it has said something."""
        self.accompanied: set[str] = set()
        """The names of runs that have, or had, another one beside them: what befalls them may be that one's doing."""
        self.is_ready = False
        """Whether it has started; one that ends before that would have done so with any run."""
        self.is_spent = False
        """Whether an error that was not foreseen may have left it (its GPU, most of all) unfit for another run."""

    def give(self, run: Run) -> None:
        """Sends a run; a worker that is gone is noticed when its answer is read."""
        with contextlib.suppress(OSError):
            self.connection.send(run)
        self.runs[run.name] = run
        if len(self.runs) > 1:
            self.accompanied |= self.runs.keys()

    def heard(self, event: Event) -> None:
        """Remembers what was said of a run."""
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
        """Waits for the process, killing it where it does not go; how it ended, in words."""
        self.connection.close()
        self.process.join(GOODBYE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        code = self.process.exitcode or 0
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"

    def last_words(self) -> str:
        """What it has printed last, and where the rest is."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines() if self.log.exists() else []
        if not lines:
            return "It said nothing: most often the memory is full, then fewer --workers or a smaller batch help."
        return f"It said at last {lines[-1]!r}, and all it said is in {self.log}."
