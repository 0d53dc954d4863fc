"""Events reported while the runs of an experiment are trained."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol, TypeAlias, runtime_checkable

from onepeak._core.wording import duration
from onepeak.experiment.plan import Run
from onepeak.experiment.prepared import PreparedExperiment
from onepeak.training.progress import Row


@dataclass(frozen=True, kw_only=True)
class Started:
    """A run begins, or continues from its checkpoint."""

    run: Run


@dataclass(frozen=True, kw_only=True)
class EpochDone:
    """A run has finished an epoch."""

    run: Run
    row: Row
    """The epoch's row in the history."""


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A run is finished, now or earlier."""

    run: Run
    result: dict[str, Any]
    """The content of `result.json`."""


@dataclass(frozen=True, kw_only=True)
class Failed:
    """A run ended with an error; its `error.json` has the details."""

    run: Run
    message: str
    unforeseen: bool = False
    """Whether the error is not one of onepeak's own, so that the process may be unfit for another run."""
    out_of_memory: bool = False
    """Whether it ran out of memory, which might have sufficed without other runs in parallel."""


@dataclass(frozen=True, kw_only=True)
class Elsewhere:
    """Another process is training the run."""

    run: Run


@dataclass(frozen=True, kw_only=True)
class Lost:
    """The process or machine of a run is gone or unfit; the run will continue or start again."""

    run: Run
    message: str


Event: TypeAlias = Started | EpochDone | Finished | Failed | Elsewhere | Lost
Report: TypeAlias = Callable[[Event], object]
"""A callback for events."""


@runtime_checkable
class Executor(Protocol):
    """Trains runs, each by `onepeak.experiment.compare.train_task` in some process."""

    @property
    def workers(self) -> int:
        """The most runs it trains at once."""

    @property
    def devices(self) -> tuple[str, ...]:
        """A description of its devices."""

    def speedup(self, num_runs: int) -> float:
        """The approximate speed-up for that many runs over training them one after another; at least 1."""

    def run(
        self, runs: Sequence[Run], prepared_experiment: PreparedExperiment, folder: Path, *, report: Report
    ) -> None:
        """Trains all runs and returns when none is left.

        Every run ends with `Finished` or `Failed`, reported once; its files are then in the experiment's folder. Runs
        that another process is training are waited for. An interruption (Ctrl-C) ends all training and is raised again.
        """


_RECENT = 300
"""Recent epochs for estimating the time left: enough to average, few enough to follow a change in load."""


@dataclass(kw_only=True)
class MethodProgress:
    """The runs of one method."""

    label: str
    epochs: int
    """Epochs of each of its runs, without early stopping."""
    total: int = 0
    finished: int = 0
    failed: int = 0
    running: dict[str, int] = field(default_factory=dict)
    """Epochs done by active runs, by the name of the run."""
    elsewhere: set[str] = field(default_factory=set)
    """Runs that another process holds."""
    figures: dict[str, list[float]] = field(default_factory=dict)
    """The test metrics of finished runs."""
    paces: deque[float] = field(default_factory=lambda: deque(maxlen=_RECENT))
    """Durations of recent epochs in seconds."""

    def mean(self, metric: str) -> float | None:
        """Returns the mean of a test metric over the finished runs; None if there are none."""
        values = [value for value in self.figures.get(metric, []) if value is not None]
        return fmean(values) if values else None

    @property
    def open(self) -> int:
        """The number of runs that are neither finished nor failed."""
        return self.total - self.finished - self.failed

    @property
    def epochs_left(self) -> int:
        """Epochs left in all open runs together."""
        return self.open * self.epochs - sum(self.running.values())

    @property
    def longest_left(self) -> int:
        """Epochs left in the open run that has the most."""
        if self.open > len(self.running):
            return self.epochs
        return max((self.epochs - done for done in self.running.values()), default=0)


class Progress:
    """Tracks the runs of a comparison, with the epochs of each method's runs by its label.

    With `at_most`, early stopping may end some runs sooner, so that the time left is an upper bound.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        epochs: dict[str, int],
        *,
        at_most: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.methods = {label: MethodProgress(label=label, epochs=count) for label, count in epochs.items()}
        self.at_most, self.clock = at_most, clock
        self.done: deque[tuple[float, str]] = deque(maxlen=_RECENT)
        """When epochs were done, and of which method; the first entry is the start of the first run."""
        for run in runs:
            self.methods[run.entry.label].total += 1

    def note(self, event: Event) -> None:
        """Processes an event."""
        method, name = self.methods[event.run.entry.label], event.run.name
        if isinstance(event, Elsewhere):
            method.elsewhere.add(name)
            return
        method.elsewhere.discard(name)
        match event:
            case Started():
                method.running[name] = 0
                if not self.done:
                    self.done.append((self.clock(), method.label))
            case EpochDone(row=row):
                method.running[name] = int(row["epoch"]) + 1
                method.paces.append(row["seconds"])
                self.done.append((self.clock(), method.label))
            case Finished(result=result):
                method.running.pop(name, None)
                method.finished += 1
                for metric, value in result["metrics"]["test"].items():
                    method.figures.setdefault(metric, []).append(value)
            case Lost():
                method.running.pop(name, None)
            case Failed():
                method.running.pop(name, None)
                method.failed += 1

    def count(self, what: str) -> int:
        """Returns how many runs are `finished`, `failed`, or exist at all (`total`)."""
        return sum(int(getattr(method, what)) for method in self.methods.values())

    def left_in_words(self) -> str | None:
        """Describes the time left; None before the first epoch."""
        seconds = self.seconds_left()
        return None if seconds is None else f"{'at most' if self.at_most else 'about'} {duration(seconds)} left"

    def seconds_left(self) -> float | None:
        """Estimates the time left from the recent total rate of all runs, and at least the longest open run's own time.

        Epochs are weighted by their method's mean time. None before the first epoch that was timed from its start.
        """
        paces = {label: fmean(method.paces) for label, method in self.methods.items() if method.paces}
        if not paces:
            return None
        usual = fmean(paces.values())
        methods = [(method, paces.get(label, usual)) for label, method in self.methods.items()]
        left = sum(method.epochs_left * pace for method, pace in methods)
        done = sum(paces[label] for _, label in islice(self.done, 1, None))
        if not done:  # messages may be missed, including the start of a run
            return None
        together = left * (self.done[-1][0] - self.done[0][0]) / done
        return max(together, *(method.longest_left * pace for method, pace in methods))
