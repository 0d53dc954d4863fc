"""Runs a whole comparison: finds the unfinished runs and has them trained, each by `train_task` in some process."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onepeak.errors import OnepeakError
from onepeak.experiment.events import Elsewhere, EpochDone, Event, Executor, Failed, Finished, Report, Started
from onepeak.experiment.folder import begin, claim, forget_failure, read_failure, read_result, write_failure
from onepeak.experiment.plan import Run, grid
from onepeak.experiment.prepared import PreparedExperiment
from onepeak.experiment.tuning import TRIALS, train_tuned
from onepeak.training.graphs import is_out_of_memory
from onepeak.training.progress import LoggerWatch, Row
from onepeak.training.run import CHECKPOINT, train_run

if TYPE_CHECKING:
    from lightning.fabric import Fabric


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of all runs of a comparison."""

    finished: tuple[Run, ...]
    failed: tuple[Failed, ...]


def compare(
    prepared_experiment: PreparedExperiment, folder: Path, *, executor: Executor, report: Report, command: str = ""
) -> Outcome:
    """Trains every run that is not finished; runs that failed before are tried again.

    It can be killed at any moment and called again, and several processes may call it at once for the same folder:
    no run is done twice, and the results are those of one undisturbed call. `report` is called with every event,
    starting with runs that are finished already.

    Raises:
        InputError: The folder holds another experiment.
    """
    begin(folder, prepared_experiment, command=command)
    ends: dict[str, Finished | Failed] = {}

    def tell(event: Event) -> None:
        if isinstance(event, Finished | Failed):
            ends[event.run.name] = event
        report(event)

    runs = grid(prepared_experiment.experiment.methods, prepared_experiment.splits)
    todo = []
    for run in runs:
        if (result := read_result(run.folder(folder))) is None:
            todo.append(run)
        else:
            (run.folder(folder) / CHECKPOINT).unlink(missing_ok=True)  # left by a run that was killed at its very end
            shutil.rmtree(run.folder(folder) / TRIALS, ignore_errors=True)
            tell(Finished(run=run, result=result))
    if todo:
        executor.run(todo, prepared_experiment, folder, report=tell)
    in_order = [ends[run.name] for run in runs]
    return Outcome(
        finished=tuple(event.run for event in in_order if isinstance(event, Finished)),
        failed=tuple(event for event in in_order if isinstance(event, Failed)),
    )


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
    how: dict[str, Any] = {"fabric": fabric, "notes": notes, "alone": alone}
    if prepared_experiment.experiment.tune:
        epochs, trials = settings.recipe.epochs, prepared_experiment.experiment.trials

        def watch(number: int) -> _Watch:
            return _Watch(run, report, number * epochs)

        return train_tuned(settings, trials, prepared, split, place, watch=watch, **how)
    loggers = () if prepared_experiment.logger == "none" else (LoggerWatch(prepared_experiment.logger, place),)
    watches = (_Watch(run, report), *loggers)
    return train_run(settings, prepared, split, place, watches=watches, test=not prepared_experiment.trial, **how)


@dataclass(frozen=True)
class _Watch:
    """Reports every epoch."""

    run: Run
    report: Report
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
