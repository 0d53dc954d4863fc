"""Trains runs in this process, one after the other: for trainings that take less time than a process to start."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from onepeak.experiment.events import Report
from onepeak.experiment.grid import Run
from onepeak.experiment.prepared import PreparedExperiment
from onepeak.experiment.task import train_task

if TYPE_CHECKING:
    from lightning.fabric import Fabric


class HereExecutor:
    """See `Executor`."""

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
