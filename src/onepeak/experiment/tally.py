"""How far a comparison is: what the events of its runs add up to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from onepeak.experiment.events import Elsewhere, EpochDone, Event, Failed, Finished, Lost, Started
from onepeak.experiment.grid import Run


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
    paces: list[float] = field(default_factory=list)
    """Seconds of epochs."""

    def mean(self, metric: str) -> float | None:
        """The mean of a test metric over the runs that are finished; None where there is none."""
        values = [value for value in self.figures.get(metric, []) if value is not None]
        return fmean(values) if values else None

    @property
    def epochs_left(self) -> int:
        """Of the runs that are neither finished nor failed."""
        return (self.total - self.finished - self.failed) * self.epochs - sum(self.running.values())


class Tally:
    """Counts what happens to the runs of a comparison.

    Args:
        runs: All runs.
        epochs: The epochs of each method's runs, by its label.
        workers: How many runs are trained at once.
    """

    def __init__(self, runs: Sequence[Run], epochs: dict[str, int], *, workers: int) -> None:
        self.methods = {label: MethodTally(label=label, epochs=count) for label, count in epochs.items()}
        self.workers = workers
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
            case EpochDone(row=row):
                method.running[name] = int(row["epoch"]) + 1
                method.paces.append(row["seconds"])
            case Finished(result=result):
                if name not in method.running:  # of those at work every epoch was counted
                    method.paces.append(result["seconds"] / result["epochs"])
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

    def seconds_left(self) -> float | None:
        """How long it will last, by the mean time of the epochs so far; None before the first."""
        paces = {label: fmean(method.paces) for label, method in self.methods.items() if method.paces}
        if not paces:
            return None
        usual = fmean(paces.values())
        work = sum(method.epochs_left * paces.get(label, usual) for label, method in self.methods.items())
        open_runs = self.count("total") - self.count("finished") - self.count("failed")
        return work / max(1, min(self.workers, open_runs))
