"""The interface of executors, which train runs in worker processes on this machine or on a cluster."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from onepeak.experiment.events import Report
from onepeak.experiment.grid import Run
from onepeak.experiment.opened import Opened


@runtime_checkable
class Executor(Protocol):
    """Trains runs, each by `onepeak.experiment.task.train_task` in some process."""

    @property
    def workers(self) -> int:
        """The most runs it trains at once."""

    @property
    def devices(self) -> tuple[str, ...]:
        """A description of its devices."""

    def speedup(self, num_runs: int) -> float:
        """The approximate speed-up for that many runs over training them one after another; at least 1."""

    def run(self, runs: Sequence[Run], opened: Opened, folder: Path, *, report: Report) -> None:
        """Trains all runs and returns when none is left.

        Every run ends with `Finished` or `Failed`, reported once; its files are then in the experiment's folder. Runs
        that another process is training are waited for. An interruption (Ctrl-C) ends all training and is raised again.

        Args:
            runs: The runs to train, in this order as far as possible.
            opened: The experiment with its data.
            folder: The experiment's folder.
            report: Called with every event, in this process.
        """
