"""Runs a whole comparison: finds the unfinished runs and has them trained."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from onepeak.experiment.events import Event, Executor, Failed, Finished, Report
from onepeak.experiment.folder import begin, read_result
from onepeak.experiment.grid import Run, grid
from onepeak.experiment.prepared import PreparedExperiment
from onepeak.experiment.tuning import TRIALS
from onepeak.training.run import CHECKPOINT


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
