"""Trains one run of an experiment in this process, for any executor, or several one after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onepeak.errors import OnepeakError
from onepeak.experiment.events import Elsewhere, EpochDone, Event, Failed, Finished, Report, Started
from onepeak.experiment.folder import claim, forget_failure, read_failure, read_result, write_failure
from onepeak.experiment.grid import Run
from onepeak.experiment.prepared import PreparedExperiment
from onepeak.experiment.tuning import train_tuned
from onepeak.training.graphs import is_out_of_memory
from onepeak.training.progress import LoggerWatch, Row
from onepeak.training.run import train_run

if TYPE_CHECKING:
    from lightning.fabric import Fabric


def train_task(
    run: Run,
    prepared_experiment: PreparedExperiment,
    folder: Path,
    *,
    fabric: "Fabric",
    report: Report,
    since: float = 0.0,
    alone: bool = True,
) -> Finished | Failed | Elsewhere:
    """Trains or continues a run and returns how it ended; does nothing if it is finished or another process holds it.

    An error is recorded in the run's folder and returned, not raised, so that the other runs continue. Failures from
    before `since` are tried again. `alone` says that no other run is trained in this process at the same time.
    """
    place = run.folder(folder)
    with claim(place) as ours:
        if (known := known_end(run, place, ours=ours, since=since)) is not None:
            return known
        report(Started(run=run))
        try:
            result = _train(run, prepared_experiment, place, fabric, report, alone=alone)
        except Exception as error:
            failed = failed_by(run, error)
            write_failure(place, run, failed.message, error=error)
            return failed
        forget_failure(place)
        return Finished(run=run, result=result)


def failed_by(run: Run, error: Exception) -> Failed:
    """Returns the event for a run that ended with an error."""
    foreseen = isinstance(error, OnepeakError)
    message = str(error) if foreseen else f"{type(error).__name__}: {error}"
    return Failed(run=run, message=message, unforeseen=not foreseen, out_of_memory=is_out_of_memory(error))


def known_end(run: Run, place: Path, *, ours: bool, since: float) -> Finished | Failed | Elsewhere | None:
    """Returns the event for a run that is not to be trained now; None for one that is.

    `ours` says whether this process holds the run's claim: then no other process can finish or fail it.
    """
    if (result := read_result(place)) is not None:
        return Finished(run=run, result=result)
    if not ours:
        return Elsewhere(run=run)
    if (message := read_failure(place, since=since)) is not None:
        return Failed(run=run, message=message)
    return None


def _train(
    run: Run, prepared_experiment: PreparedExperiment, place: Path, fabric: "Fabric", report: Report, *, alone: bool
) -> dict[str, Any]:
    (split,) = [each for each in prepared_experiment.splits if (each.split, each.fold) == (run.split, run.fold)]
    settings, prepared = prepared_experiment.settings(run.entry), prepared_experiment.prepared
    notes = {"label": run.entry.label, **prepared_experiment.notes_of_run(split)}
    loggers = () if prepared_experiment.logger == "none" else (LoggerWatch(prepared_experiment.logger, place),)
    if prepared_experiment.experiment.tune:
        epochs, trials = settings.recipe.epochs, prepared_experiment.experiment.trials
        watch = partial(_Watch, run, report)
        return train_tuned(
            settings,
            trials,
            prepared,
            split,
            place,
            watch=lambda number: watch(number * epochs),
            notes=notes,
            fabric=fabric,
            alone=alone,
        )
    return train_run(
        settings,
        prepared,
        split,
        place,
        fabric=fabric,
        watches=(_Watch(run, report), *loggers),
        notes=notes,
        alone=alone,
        test=not prepared_experiment.trial,
    )


@dataclass(frozen=True)
class _Watch:
    """Reports every epoch."""

    run: Run
    report: Callable[[Event], object]
    before: int = 0
    """Epochs of earlier trials, where the run is tuned."""

    def step(self, epoch: int, step: int, num_steps: int) -> None:
        """Does nothing: there are too many steps to report."""

    def epoch(self, row: Row) -> None:
        """Reports the epoch's row."""
        self.report(EpochDone(run=self.run, row=row | {"epoch": self.before + row["epoch"]}))


class HereExecutor:
    """Trains runs one after the other, where a training takes less time than to start a process; see `Executor`."""

    workers = 1

    def __init__(self, fabric: "Fabric") -> None:
        self.fabric = fabric
        self.devices = (f"this process on {fabric.device}",)

    def speedup(self, num_runs: int) -> float:  # noqa: ARG002 - as for every executor
        """See `Executor`."""
        return 1.0

    def run(
        self, runs: Sequence[Run], prepared_experiment: PreparedExperiment, folder: Path, *, report: Report
    ) -> None:
        """Trains all runs; see `Executor`."""
        for run in runs:
            report(train_task(run, prepared_experiment, folder, fabric=self.fabric, report=report))
