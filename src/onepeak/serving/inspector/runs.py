"""Reads the runs of a folder without torch, for the first page."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onepeak.errors import InputError
from onepeak.experiment.run_files import (
    classes_of_model,
    failed_runs,
    read_config,
    read_run,
    recorded_classes,
    result_files,
)
from onepeak.training.out_folder import RUNS


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """One finished run."""

    row: str
    """Its row in tables: the method, with what is special about it."""
    method: str
    dataset: str
    split: int
    fold: int
    folder: Path
    metrics: Mapping[str, float]
    """Metrics of its test part; NaN if not defined."""

    @property
    def part(self) -> str:
        """The split and fold, as in addresses.

        Example:
            >>> about = {"row": "elb", "method": "elb", "dataset": "biopsies", "folder": Path(), "metrics": {}}
            >>> run = FinishedRun(split=3, fold=0, **about)
            >>> run.part
            '3-0'
        """
        return f"{self.split}-{self.fold}"


@dataclass(frozen=True, kw_only=True)
class FolderContents:
    """Everything found in a folder."""

    runs: tuple[FinishedRun, ...]
    """Rows in the order of the experiment, sorted by split and fold within a row."""
    failed: tuple[str, ...]
    """One sentence per failed run."""
    classes: tuple[str, ...]
    config: Mapping[str, Any] | None
    """The settings of the experiment; None for a single run outside one."""


def find_runs(folder: Path) -> FolderContents:
    """Reads the results of a folder that `onepeak compare` or `onepeak train` wrote; unfinished runs are skipped."""
    results = result_files(folder)
    failed = tuple(f"{run.label}, {run.name}: {run.message}" for run in failed_runs(folder))
    config = read_config(folder if (folder / RUNS).is_dir() else _comparison(folder))
    order = {_label(entry): place for place, entry in enumerate((config or {}).get("methods", ()))}
    runs = sorted(map(_run, results), key=lambda run: (order.get(run.row, len(order)), run.row, run.split, run.fold))
    if len({run.dataset for run in runs}) > 1:
        names = ", ".join(sorted({run.dataset for run in runs}))
        raise InputError(f"`{folder}` must hold runs on one data set, got {names}: inspect a folder of each.")
    return FolderContents(runs=tuple(runs), failed=failed, classes=_classes(runs, results, config), config=config)


def _run(path: Path) -> FinishedRun:
    run = read_run(path)
    return FinishedRun(
        row=run.label or run.method,
        method=run.method,
        dataset=run.dataset,
        split=run.split,
        fold=run.fold,
        folder=path.parent,
        metrics=run.metrics["test"],
    )


def _classes(runs: list[FinishedRun], results: list[Path], config: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The class names: from the experiment, from a model, or just numbers."""
    if recorded := recorded_classes(config):
        return recorded
    for run in runs[:5]:
        if classes := classes_of_model(run.folder):
            return classes
    number = read_run(results[0]).num_classes
    if number is None:
        raise InputError(f"{results[0]} must give the number of classes, got no `num_classes`: run it again.")
    return tuple(map(str, range(number)))


def _label(entry: Any) -> str:
    return str(entry.get("label", entry.get("name"))) if isinstance(entry, dict) else str(entry)


def _comparison(folder: Path) -> Path:
    """The comparison that a run belongs to, judging by its path; the run's own folder if there is none."""
    above = folder.resolve().parents
    return above[2] if len(above) > 2 and above[1].name == RUNS else folder
