"""Reads the runs of a folder without torch, for the first page."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onepeak.errors import InputError
from onepeak.experiment.run_files import failed_runs, read_config, read_json, recorded_classes, result_files
from onepeak.training.out_folder import DESCRIPTION, RUNS


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
    result = read_json(path)
    try:
        return FinishedRun(
            row=str(result.get("label", result["method"])),
            method=str(result["method"]),
            dataset=str(result["dataset"]),
            split=int(result["split"]),
            fold=int(result["fold"]),
            folder=path.parent,
            metrics={
                name: math.nan if value is None else float(value) for name, value in result["metrics"]["test"].items()
            },
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} must be a result that onepeak wrote, got one that cannot be read: {error}.") from None


def _classes(runs: list[FinishedRun], results: list[Path], config: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The class names: from the experiment, from a model, or just numbers."""
    if recorded := recorded_classes(config):
        return recorded
    for run in runs[:5]:
        if (run.folder / DESCRIPTION).exists():
            return tuple(map(str, read_json(run.folder / DESCRIPTION).get("classes", ())))
    number = read_json(results[0]).get("num_classes")
    if not isinstance(number, int):
        raise InputError(f"{results[0]} must give the number of classes, got no `num_classes`: run it again.")
    return tuple(map(str, range(number)))


def _label(entry: Any) -> str:
    return str(entry.get("label", entry.get("name"))) if isinstance(entry, dict) else str(entry)


def _comparison(folder: Path) -> Path:
    """The comparison that a run belongs to, judging by its path; the run's own folder if there is none."""
    above = folder.resolve().parents
    return above[2] if len(above) > 2 and above[1].name == RUNS else folder
