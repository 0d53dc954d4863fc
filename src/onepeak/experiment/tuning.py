"""Tuning: a run tries every setting of a grid and goes on with the best in validation; the test part stays shut.

It knows runs (`training.run`) and nothing of executors: a tuned run is one task, and resumes like any other.
"""

import math
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from onepeak._core.files import link_or_copy, write_text_in_one_step
from onepeak._core.formats import json_text
from onepeak._core.imports import Frame
from onepeak.data.splits import Split
from onepeak.experiment.folder import read_result
from onepeak.training.convergence import to_lower
from onepeak.training.loop import DivergedError
from onepeak.training.out_folder import RESULT
from onepeak.training.prepare import Prepared
from onepeak.training.progress import Watch
from onepeak.training.run import CHECKPOINT, RunSettings, train_run

TRIALS = "tuning"
"""The folder of a run's trials, which is gone when the run is finished."""


def in_words(settings: Mapping[str, Any]) -> str:
    """Describes the settings of a trial.

    Example:
        >>> in_words({"lr": 0.0003, "ema": 0.9})
        'lr=0.0003, ema=0.9'
    """
    short = {name: float(f"{value:.3g}") if isinstance(value, float) else value for name, value in settings.items()}
    return ", ".join(f"{name}={value}" for name, value in short.items())


def train_tuned(
    settings: RunSettings,
    grid: Sequence[Mapping[str, Any]],
    prepared: Prepared,
    split: Split,
    folder: Path,
    *,
    watch: Callable[[int], Watch],
    notes: dict[str, Any],
    **how: Any,
) -> dict[str, Any]:
    """Trains every trial of a grid, and evaluates the one that is best in validation on the test part.

    A trial that diverges is not chosen. The winner is not trained again: the run resumes from its last checkpoint.
    `watch` makes the observer of a trial; `how` is as for `train_run`.
    """
    tried: list[dict[str, Any]] = []
    for number, changes in enumerate(grid):
        place = folder / TRIALS / str(number)
        result = read_result(place)
        if result is None:
            try:
                trial = _changed(settings, changes)
                result = train_run(trial, prepared, split, place, watches=(watch(number),), test=False, **how)
            except DivergedError as error:
                result = {"value": None, "seconds": 0.0, "error": str(error)}
                write_text_in_one_step(place / RESULT, json_text(result))
        tried.append({**changes, **{name: result[name] for name in ("value", "seconds", "error") if name in result}})
        if tried[-1]["value"] is None:  # JSON has neither infinity nor NaN
            tried[-1]["value"] = math.nan
    best = chosen([each["value"] for each in tried], settings.selection(prepared.manifest))
    if "error" in tried[best]:
        raise DivergedError(f"Every setting of the tuning diverged, the last with: {tried[-1]['error']}")
    if not (folder / CHECKPOINT).exists():
        link_or_copy(folder / TRIALS / str(best) / CHECKPOINT, folder / CHECKPOINT)
    found = notes | {"tuned": dict(grid[best]), "tried": [{**each, "value": _finite(each["value"])} for each in tried]}
    result = train_run(_changed(settings, grid[best]), prepared, split, folder, notes=found, **how)
    shutil.rmtree(folder / TRIALS, ignore_errors=True)
    return result


def chosen(values: Sequence[float], select: str) -> int:
    """Returns the position of the best value of a validation metric, the first of equals; NaN is never the best."""
    return min(range(len(values)), key=lambda place: to_lower(values[place], select))


def tuned_note(results: Frame) -> str | None:
    """Describes what was chosen for each method and how often; None if nothing was tuned."""
    parts = []
    for label in dict.fromkeys(results["label"] if "tuned" in results else ()):
        counts = Counter(in_words(each) for each in results.loc[results["label"] == label, "tuned"] if each)
        if counts:
            parts.append(f"{label} " + ", ".join(f"{words} ({count}x)" for words, count in counts.most_common()))
    return f"chosen on the validation part of every run: {'; '.join(parts)}" if parts else None


def _changed(settings: RunSettings, changes: Mapping[str, Any]) -> RunSettings:
    return replace(settings, recipe=replace(settings.recipe, **changes))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
