"""Trains one run of an experiment in this process, whichever executor started it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onepeak.errors import OnepeakError
from onepeak.experiment.events import Elsewhere, EpochDone, Event, Failed, Finished, Report, Started
from onepeak.experiment.grid import Run
from onepeak.experiment.opened import Opened
from onepeak.experiment.run_folder import claim, forget_failure, read_failure, read_result, write_failure
from onepeak.training.memory import is_out_of_memory
from onepeak.training.run import train_run
from onepeak.training.watch import Row

if TYPE_CHECKING:
    from lightning.fabric import Fabric


def train_task(
    run: Run,
    opened: Opened,
    folder: Path,
    *,
    fabric: "Fabric",
    report: Report,
    since: float = 0.0,
    alone: bool = True,
) -> Finished | Failed | Elsewhere:
    """Trains a run, or goes on with it; does nothing where it is done or another process is at it.

    An error is written down beside the run and told, not raised: the other runs go on.

    Args:
        run: What to train.
        opened: The experiment with its data; another process can be sent it, or open the experiment itself.
        folder: The experiment's folder, or one of its own where the results are brought home later.
        fabric: Device and precision.
        report: Who is told how it goes on: `Started`, and `EpochDone` after every epoch.
        since: When the comparison began; a failure before that is tried again, one after it is not.
        alone: Whether no other run is trained in this process at the same time; see `onepeak.training.pack`.

    Returns:
        How it ended.
    """
    place = run.folder(folder)
    with claim(place) as ours:
        if (known := known_end(run, place, ours=ours, since=since)) is not None:
            return known
        report(Started(run=run))
        try:
            result = _train(run, opened, place, fabric, report, alone=alone)
        except Exception as error:
            failed = failed_by(run, error)
            write_failure(place, run, failed.message, error=error)
            return failed
        forget_failure(place)
        return Finished(run=run, result=result)


def failed_by(run: Run, error: Exception) -> Failed:
    """What there is to tell of a run that an error has ended."""
    foreseen = isinstance(error, OnepeakError)
    message = str(error) if foreseen else f"{type(error).__name__}: {error}"
    return Failed(run=run, message=message, unforeseen=not foreseen, out_of_memory=is_out_of_memory(error))


def known_end(run: Run, place: Path, *, ours: bool, since: float) -> Finished | Failed | Elsewhere | None:
    """What there is to tell of a run that is not to be trained now; None of one that is.

    Args:
        run: The run.
        place: Its folder.
        ours: Whether this process holds its claim: then nobody else can finish or fail it.
        since: When the comparison began.
    """
    if (result := read_result(place)) is not None:
        return Finished(run=run, result=result)
    if not ours:
        return Elsewhere(run=run)
    if (message := read_failure(place, since=since)) is not None:
        return Failed(run=run, message=message)
    return None


def _train(run: Run, opened: Opened, place: Path, fabric: "Fabric", report: Report, *, alone: bool) -> dict[str, Any]:
    (split,) = [each for each in opened.splits if (each.split, each.fold) == (run.split, run.fold)]
    return train_run(
        opened.settings(run.entry),
        opened.prepared,
        split,
        place,
        fabric=fabric,
        watches=(_Watch(run, report),),
        notes={"label": run.entry.label, **opened.shared_by_parts(split)},
        alone=alone,
    )


@dataclass(frozen=True)
class _Watch:
    """Tells of every epoch."""

    run: Run
    report: Callable[[Event], object]

    def step(self, epoch: int, step: int, num_steps: int) -> None:
        """Steps are not told: there are too many."""

    def epoch(self, row: Row) -> None:
        """Tells the epoch's row."""
        self.report(EpochDone(run=self.run, row=row))
