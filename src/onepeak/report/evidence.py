"""All that the runs on one data set say, read once and kept small, for the figures and the findings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from onepeak._listing import counted
from onepeak.data.biopsies import BayesError, bayes_error
from onepeak.data.frame_types import Frame
from onepeak.errors import InputError
from onepeak.experiment.records import read_history, read_predictions
from onepeak.metrics.catalog import METRICS
from onepeak.report.cases import choose_cases
from onepeak.report.figures.canvas import Looks
from onepeak.report.figures.curves import Curve, at_every_epoch, curve
from onepeak.report.figures.paradoxes import Case
from onepeak.report.figures.tradeoff import Scores
from onepeak.report.figures.truth import Distance, divergence, variation
from onepeak.report.palette import styles
from onepeak.report.source import Source
from onepeak.report.sureness import Sureness
from onepeak.report.tally import Tally, TestPart
from onepeak.training.model_files import load_description

CURVES = ("mae", "soi_predicted")
"""The validation metrics whose course is shown, after what chose the epochs."""
MOST_NUMBERS = 500_000
"""Probabilities of overlaid posteriors on a page; more would make it slow to open."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """The runs on one data set, aggregated. What was not there to be read is empty, and `notes` says why."""

    title: str
    runs: Frame
    """As `read_results` gives them."""
    summary: Frame
    """As `summary` gives it."""
    source: Source
    looks: Looks
    """Of every row, in the order of the table."""
    classes: tuple[str, ...]
    chance: float | None
    """Of the side order index to the prediction."""
    scores: Mapping[str, Scores]
    curves: Mapping[str, Mapping[str, Curve]]
    """By metric and row."""
    tallies: Mapping[str, Tally]
    sureness: Mapping[str, Sureness]
    """Of the rows whose runs know their temperature."""
    cases: tuple[Case, ...]
    distances: Mapping[str, Distance]
    """From the true posteriors; empty where these are not known."""
    bayes: BayesError | None
    notes: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class _Reading:
    """What is filled while the runs are read, by row."""

    histories: dict[str, dict[str, list[npt.NDArray[np.float64]]]]
    """By metric first."""
    tallies: dict[str, Tally] = field(default_factory=dict)
    sureness: dict[str, Sureness] = field(default_factory=dict)
    distances: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    tested: set[int] = field(default_factory=set)
    """Items of any test part, where their true posteriors are known."""
    missing: list[str] = field(default_factory=list)
    """Why the predictions of a run are not there."""


def gather(
    title: str,
    runs: Frame,
    summary: Frame,
    source: Source,
    *,
    classes: Sequence[str] = (),
    most_numbers: int = MOST_NUMBERS,
    on_run: Callable[[], None] = lambda: None,
) -> Evidence:
    """Reads the histories and predictions of all runs on one data set, one run in memory at a time.

    Args:
        title: What the data set is called on the page.
        runs: Its runs, as `read_results` gives them.
        summary: What `summary` makes of them.
        source: The data.
        classes: Their names, as the experiment recorded them; else those of a model or of the data.
        most_numbers: The most probabilities to keep for overlays.
        on_run: Called after each run.
    """
    methods = dict(zip(runs["label"], runs["method"], strict=True))
    classes = tuple(classes) or _classes(runs, source)
    shown = int(np.clip(most_numbers // max(1, len(methods) * len(classes) ** 2), 3, 40))
    per_run = {row: -(-shown // count) for row, count in runs["label"].value_counts().items()}
    reading = _Reading(histories={metric: {} for metric in (*runs["selected_by"], *CURVES)})
    for run in runs.to_dict("records"):
        _read_history(run, reading)
        if classes:
            tally = Tally(num_classes=len(classes), shown_per_run=per_run[run["label"]], most_shown=shown)
            _read_predictions(run, reading, tally, source)
        on_run()
    chance = METRICS["soi_predicted"].chance
    tallies = {row: tally for row, tally in reading.tallies.items() if tally.num_predictions}
    return Evidence(
        title=title,
        runs=runs,
        summary=summary,
        source=source,
        looks=styles({str(row): str(method) for row, method in methods.items()}),
        classes=classes,
        chance=chance(len(classes)) if chance is not None and classes else None,
        scores={str(row): _scores(own) for row, own in runs.groupby("label", sort=False)},
        curves={
            metric: {row: curve(found) for row, found in rows.items()} for metric, rows in reading.histories.items()
        },
        tallies=tallies,
        sureness=reading.sureness,
        cases=choose_cases(tallies, runs, source),
        distances={
            row: Distance(divergence=np.array(found)[:, 0], variation=np.array(found)[:, 1])
            for row, found in reading.distances.items()
        },
        bayes=bayes_error(source.manifest.take(sorted(reading.tested))) if source.manifest and reading.tested else None,
        notes=_notes(reading, source, len(runs)),
    )


def _read_history(run: dict[Any, Any], reading: _Reading) -> None:
    try:
        history = read_history(run["folder"])
    except InputError:
        return  # the curve goes without it; results and predictions do not depend on it
    for metric, rows in reading.histories.items():
        if {"epoch", f"valid_{metric}"} <= set(history.columns) and len(history):
            values = history[f"valid_{metric}"].to_numpy(dtype=np.float64)
            epochs = history["epoch"].to_numpy(dtype=np.int64)
            rows.setdefault(run["label"], []).append(at_every_epoch(epochs, values))


def _read_predictions(run: dict[Any, Any], reading: _Reading, fresh: Tally, source: Source) -> None:
    try:
        columns = ("item", "label", "predicted", "log_probs")
        part = TestPart(**read_predictions(run["folder"], columns=columns, part="test"))
    except InputError as error:
        reading.missing.append(str(error))
        return
    if not len(part.item):
        return
    if part.log_probs.shape[1] != fresh.num_classes:
        reading.missing.append(
            f"{run['folder']} has posteriors over {part.log_probs.shape[1]} classes, the data set {fresh.num_classes}."
        )
        return
    row = run["label"]
    reading.tallies.setdefault(row, fresh).add(part, split=run["split"], fold=run["fold"])
    if not np.isnan(run["temperature"]):  # as in results of earlier versions
        reading.sureness.setdefault(row, Sureness()).add(part, temperature=run["temperature"])
    truth = source.true_log_probs(part.item)
    if truth is not None:
        log_probs = part.log_probs.astype(np.float64)
        found = float(divergence(truth, log_probs).mean()), float(variation(truth, log_probs).mean())
        reading.distances.setdefault(row, []).append(found)
        reading.tested.update(part.item.tolist())


def _classes(runs: Frame, source: Source) -> tuple[str, ...]:
    """Names of the classes: from a model, from the data, or only their numbers; none where even these are not known."""
    for folder in runs["folder"].head(5):
        try:
            return load_description(Path(folder)).classes
        except InputError:
            continue
    if source.manifest is not None:
        return source.manifest.classes
    number = runs["num_classes"].max()
    return () if np.isnan(number) else tuple(str(each) for each in range(int(number)))


def _scores(own: Frame) -> Scores:
    known = own[["test_mae", "test_soi_predicted"]].dropna().to_numpy(dtype=np.float64)
    return Scores(mae=known[:, 0], soi=known[:, 1])


def _notes(reading: _Reading, source: Source, num_runs: int) -> tuple[str, ...]:
    notes = []
    if reading.missing:
        notes.append(
            f"The predictions of {counted(len(reading.missing), 'run')} of {num_runs} are left out of the figures, "
            f"the first because: {reading.missing[0]}"
        )
    if source.reason:
        notes.append(f"{source.reason} Pictures and true posteriors are left out.")
    return tuple(notes)
