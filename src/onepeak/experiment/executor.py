"""What trains the runs of an experiment: worker processes on this machine, or something larger."""

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
        """How many runs it trains at once, at most."""

    @property
    def devices(self) -> tuple[str, ...]:
        """On what it trains them, in words."""

    def speedup(self, num_runs: int) -> float:
        """How many times as fast it trains that many runs as one after another, about; at least 1."""

    def run(self, runs: Sequence[Run], opened: Opened, folder: Path, *, report: Report) -> None:
        """Trains all runs and returns when none is left.

        Every run ends with `Finished` or `Failed`, told once; its files are then in the experiment's folder. What
        another process is training is waited for. An interruption (Ctrl-C) ends all training, and passes on.

        Args:
            runs: What to train, in this order as far as may be.
            opened: The experiment with its data.
            folder: The experiment's folder.
            report: Who is told of every event, in this process.
        """
