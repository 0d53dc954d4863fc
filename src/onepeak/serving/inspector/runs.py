"""The finished runs of a folder, and the figures of the first page from them. Needs no torch."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from onepeak.errors import InputError
from onepeak.experiment.run_files import (
    classes_of_model,
    failed_runs,
    read_config,
    read_run,
    recorded_classes,
    result_files,
)
from onepeak.report.figures.curves import at_every_epoch, curve
from onepeak.report.figures.tradeoff import soi_limits
from onepeak.report.palette import FEWEST, Style
from onepeak.training.out_folder import RUNS, history_columns


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
        """The split and fold, as in addresses: 3-0."""
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


METRICS = ("mae", "soi_predicted", "unimodal", "accuracy")
"""The columns of the table."""
CURVES = ("mae", "soi_predicted")
"""The validation metrics with learning curves."""

Number = float | None
"""A figure; None if not defined, as JSON has no NaN."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One metric of one row."""

    mean: Number
    std: Number
    """Over runs; None for a single run."""
    best: bool
    """Whether no row is better on the splits and folds that all rows have, at least `FEWEST`."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One method of the table."""

    row: str
    look: Style
    num_runs: int
    figures: Mapping[str, Figure]
    points: tuple[tuple[float, float], ...]
    """Error and consistency of each run."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """One metric of one row over the epochs."""

    epochs: list[int]
    mean: list[Number]
    low: list[Number]
    high: list[Number]


@dataclass(frozen=True, kw_only=True)
class Overview:
    """The table and the charts made from it."""

    rows: tuple[Row, ...]
    chance: float
    """The side order index of guessing by the mode."""
    upward: tuple[float, float] | None
    """The range of consistency in the chart of error against consistency; None if it has no point."""


def overview(runs: Sequence[FinishedRun], looks: Mapping[str, Style], *, num_classes: int) -> Overview:
    """Summarises the runs, in rows with the styles and in the order of `looks`."""
    of_row = {row: [run for run in runs if run.row == row] for row in looks}
    figures = {name: _figures(of_row, name) for name in METRICS}
    points = {row: tuple(_points(own)) for row, own in of_row.items()}
    rows = tuple(
        Row(
            row=row,
            look=looks[row],
            num_runs=len(own),
            figures={name: figures[name][row] for name in METRICS},
            points=points[row],
        )
        for row, own in of_row.items()
    )
    drawn = [soi for own in points.values() for _, soi in own]
    # Half of the pairs by chance, plus those at the highest score: `onepeak.metrics.functional.side_order_chance`.
    return Overview(rows=rows, chance=0.5 + 1 / num_classes, upward=soi_limits(drawn) if drawn else None)


def curves(runs: Sequence[FinishedRun]) -> dict[str, dict[str, Course]]:
    """Returns the learning curves by metric and row, without rows that have no history.

    Reading the histories takes longer than anything else on the page.
    """
    histories: dict[str, list[dict[str, npt.NDArray[np.float64]]]] = {}
    for run in runs:
        histories.setdefault(run.row, []).append(_history(run.folder))
    return {name: _courses(histories, name) for name in CURVES}


def _figures(of_row: Mapping[str, Sequence[FinishedRun]], name: str) -> dict[str, Figure]:
    """One metric of each row; the best is best on the splits and folds shared by all rows that have the metric."""
    found = {row: {run.part: run.metrics.get(name, math.nan) for run in own} for row, own in of_row.items()}
    found = {row: {part: value for part, value in own.items() if math.isfinite(value)} for row, own in found.items()}
    known = [row for row, own in found.items() if own]
    shared = sorted(set.intersection(*(set(found[row]) for row in known))) if known else []
    means = {row: float(np.mean([found[row][part] for part in shared])) for row in known if len(shared) >= FEWEST}
    top = (min if name == "mae" else max)(means.values(), default=math.nan)
    figures = {}
    for row, own in found.items():
        values = list(own.values())
        mean = _number(float(np.mean(values))) if values else None
        std = _number(float(np.std(values, ddof=1))) if len(values) > 1 else None
        figures[row] = Figure(mean=mean, std=std, best=means.get(row) == top)
    return figures


def _points(runs: Iterable[FinishedRun]) -> Iterable[tuple[float, float]]:
    for run in runs:
        point = run.metrics.get("mae", math.nan), run.metrics.get("soi_predicted", math.nan)
        if all(map(math.isfinite, point)):
            yield point


def _history(folder: Path) -> dict[str, npt.NDArray[np.float64]]:
    """The validation metrics of one run, one value per epoch; empty without a readable history."""
    try:
        columns = history_columns(folder)
    except InputError:
        return {}  # the page leaves out its curve; results do not depend on it
    epochs = columns["epoch"].astype(np.int64)
    known = {name: columns[f"valid_{name}"] for name in CURVES if f"valid_{name}" in columns}
    return {name: at_every_epoch(epochs, values) for name, values in known.items()}


def _courses(histories: Mapping[str, list[dict[str, npt.NDArray[np.float64]]]], name: str) -> dict[str, Course]:
    found = {}
    for row, own in histories.items():
        known = [history[name] for history in own if len(history.get(name, ()))]
        if known:
            drawn = curve(known)
            found[row] = Course(
                epochs=drawn.epochs.tolist(),
                mean=list(map(_number, drawn.mean.tolist())),
                low=list(map(_number, drawn.low.tolist())),
                high=list(map(_number, drawn.high.tolist())),
            )
    return found


def _number(value: float) -> Number:
    return float(f"{value:.6g}") if math.isfinite(value) else None
