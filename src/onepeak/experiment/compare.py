"""The whole of a comparison: open the data, find what is to be done, have it done."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from onepeak.experiment.events import Event, Failed, Finished, Report
from onepeak.experiment.executor import Executor
from onepeak.experiment.folder import begin
from onepeak.experiment.grid import Run, grid
from onepeak.experiment.opened import Opened
from onepeak.experiment.run_folder import read_result
from onepeak.training.run import CHECKPOINT


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of the runs that were asked for."""

    finished: tuple[Run, ...]
    failed: tuple[Failed, ...]


def compare(opened: Opened, folder: Path, *, executor: Executor, report: Report, command: str = "") -> Outcome:
    """Trains every run that is not finished; runs that failed before are tried again.

    It can be killed at any moment and called again, and several processes may call it at once for the same folder:
    no run is done twice, and the results are those of one call that nothing disturbed.

    Args:
        opened: The experiment with its data.
        folder: Where its runs are kept.
        executor: What trains them.
        report: Who is told of everything; of runs that are finished already first.
        command: What was typed, for the record.

    Raises:
        InputError: The folder holds another experiment.
    """
    begin(folder, opened, command=command)
    ends: dict[str, Finished | Failed] = {}

    def tell(event: Event) -> None:
        if isinstance(event, Finished | Failed):
            ends[event.run.name] = event
        report(event)

    runs = grid(opened.experiment.methods, opened.splits)
    if todo := _told_if_finished(runs, folder, tell):
        executor.run(todo, opened, folder, report=tell)
    in_order = [ends[run.name] for run in runs]
    return Outcome(
        finished=tuple(event.run for event in in_order if isinstance(event, Finished)),
        failed=tuple(event for event in in_order if isinstance(event, Failed)),
    )


def _told_if_finished(runs: Sequence[Run], folder: Path, tell: Report) -> list[Run]:
    """The runs that are to be done; the others are told to be finished."""
    todo = []
    for run in runs:
        result = read_result(run.folder(folder))
        if result is None:
            todo.append(run)
        else:
            (run.folder(folder) / CHECKPOINT).unlink(missing_ok=True)  # of one that was killed at its very end
            tell(Finished(run=run, result=result))
    return todo
