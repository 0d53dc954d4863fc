"""How far a comparison is: what the events of its runs add up to."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from statistics import fmean

from onepeak._listing import duration
from onepeak.experiment.events import Elsewhere, EpochDone, Event, Failed, Finished, Lost, Started
from onepeak.experiment.grid import Run

_RECENT = 300
"""Epochs by which the time left is told: enough to average, few enough to follow when more runs are at work."""


@dataclass(kw_only=True)
class MethodTally:
    """The runs of one method."""

    label: str
    epochs: int
    """Of each of its runs, unless its patience ends it."""
    total: int = 0
    finished: int = 0
    failed: int = 0
    running: dict[str, int] = field(default_factory=dict)
    """The epochs that runs at work have done, by the name of the run."""
    elsewhere: set[str] = field(default_factory=set)
    """The runs that another process has."""
    figures: dict[str, list[float]] = field(default_factory=dict)
    """The test metrics of finished runs."""
    paces: deque[float] = field(default_factory=lambda: deque(maxlen=_RECENT))
    """Seconds of epochs."""

    def mean(self, metric: str) -> float | None:
        """The mean of a test metric over the runs that are finished; None where there is none."""
        values = [value for value in self.figures.get(metric, []) if value is not None]
        return fmean(values) if values else None

    @property
    def open(self) -> int:
        """How many runs are neither finished nor failed."""
        return self.total - self.finished - self.failed

    @property
    def epochs_left(self) -> int:
        """Of the open runs together."""
        return self.open * self.epochs - sum(self.running.values())

    @property
    def longest_left(self) -> int:
        """The epochs left of the open run that has most of them."""
        if self.open > len(self.running):
            return self.epochs
        return max((self.epochs - done for done in self.running.values()), default=0)


class Tally:
    """Counts what happens to the runs of a comparison.

    Args:
        runs: All runs.
        epochs: The epochs of each method's runs, by its label.
        at_most: Whether their patience may end some runs before, so that the time left may be less.
        clock: What says the time, in seconds.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        epochs: dict[str, int],
        *,
        at_most: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.methods = {label: MethodTally(label=label, epochs=count) for label, count in epochs.items()}
        self.at_most, self.clock = at_most, clock
        self.done: deque[tuple[float, str]] = deque(maxlen=_RECENT)
        """When epochs were done, and of which method; before them all, when the first run began."""
        for run in runs:
            self.methods[run.entry.label].total += 1

    def note(self, event: Event) -> None:
        """Takes an event into account."""
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
        """How many runs are `finished`, `failed` or there at all (`total`)."""
        return sum(int(getattr(method, what)) for method in self.methods.values())

    def left_in_words(self) -> str | None:
        """How long it will last, in words; None before the first epoch."""
        seconds = self.seconds_left()
        return None if seconds is None else f"{'at most' if self.at_most else 'about'} {duration(seconds)} left"

    def seconds_left(self) -> float | None:
        """How long it will last: as much as all runs at work have done of late, and no run faster than it is.

        Epochs of a method count by their mean time. None before the first that is known from its beginning.
        """
        paces = {label: fmean(method.paces) for label, method in self.methods.items() if method.paces}
        if not paces:
            return None
        usual = fmean(paces.values())
        methods = [(method, paces.get(label, usual)) for label, method in self.methods.items()]
        left = sum(method.epochs_left * pace for method, pace in methods)
        done = sum(paces[label] for _, label in islice(self.done, 1, None))
        if not done:  # messages may be missed, that a run has begun among them
            return None
        together = left * (self.done[-1][0] - self.done[0][0]) / done
        return max(together, *(method.longest_left * pace for method, pace in methods))
