"""All that the runs on one data set say, read once and summed up run by run, for the figures and the findings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from onepeak._core.imports import Frame
from onepeak._core.wording import counted
from onepeak.data.datasets.biopsies import BayesError, bayes_error
from onepeak.errors import InputError
from onepeak.experiment.results import read_history
from onepeak.experiment.run_files import classes_of_model
from onepeak.metrics.catalog import METRICS
from onepeak.metrics.functional.probabilistic import negative_log_likelihood, ranked_probability_score
from onepeak.posterior import Reliability, is_paradoxical, reliability, runner_up_distance, temper
from onepeak.posterior.predictions import Predictions
from onepeak.posterior.shape import NOTICEABLE
from onepeak.report.figures.canvas import Looks
from onepeak.report.figures.curves import Curve, at_every_epoch, curve
from onepeak.report.figures.paradoxes import Case
from onepeak.report.figures.tradeoff import Scores
from onepeak.report.figures.truth import Distance, divergence, variation
from onepeak.report.palette import styles
from onepeak.report.source import Source
from onepeak.training.predictions_file import part_predictions, read_predictions

MOST_SUSPECTS = 8
"""Paradoxical predictions that are kept of a method."""


@dataclass(frozen=True)
class Suspect:
    """A prediction whose second most probable label is no neighbour of the first."""

    strength: float
    """Steps from the first label to the second, times the second's probability: far apart, and meant."""
    split: int
    fold: int
    item: int


@dataclass(kw_only=True, eq=False)
class PredictionSummary:
    """Counts and a few examples; `add` one run after the other."""

    num_classes: int
    examples_per_run: int
    """Posteriors that are kept of each predicted label and run, to be drawn."""
    most_examples: int
    """The same over all runs."""
    confusion: npt.NDArray[np.int64] = field(init=False)
    """How often each true class (rows) was given each label (columns)."""
    num_paradoxical: int = 0
    num_noticeable: int = 0
    """Of these, how many whose second label has a probability of at least 5 %."""
    suspects: list[Suspect] = field(default_factory=list)
    """The strongest, strongest first."""
    examples: dict[int, list[npt.NDArray[np.float32]]] = field(default_factory=dict)
    """Some posteriors of each predicted label, as probabilities."""

    def __post_init__(self) -> None:
        self.confusion = np.zeros((self.num_classes, self.num_classes), dtype=np.int64)

    @property
    def num_predictions(self) -> int:
        """Over all runs."""
        return int(self.confusion.sum())

    @property
    def paradoxical(self) -> float:
        """The share of predictions whose second most probable label is no neighbour of the first."""
        return self.num_paradoxical / self.num_predictions

    @property
    def noticeably_paradoxical(self) -> float:
        """The same where the second label has a probability of at least 5 %."""
        return self.num_noticeable / self.num_predictions

    @property
    def posteriors(self) -> dict[int, npt.NDArray[np.float32]]:
        """Some posteriors of each predicted label (posteriors x classes), the labels in their order."""
        return {label: np.stack(self.examples[label]) for label in sorted(self.examples)}

    def add(self, part: Predictions, *, split: int, fold: int) -> None:
        """Counts the predictions of one run."""
        np.add.at(self.confusion, (part.truth.numpy(), part.predicted_index.numpy()), 1)
        distance = runner_up_distance(part.log_probs).numpy()
        self.num_paradoxical += int((distance > 1).sum())
        self.num_noticeable += int(is_paradoxical(part.log_probs, at_least=NOTICEABLE).sum())
        self._keep_suspects(part, distance, split=split, fold=fold)
        self._keep_examples(part)

    def _keep_suspects(self, part: Predictions, distance: npt.NDArray[np.int64], *, split: int, fold: int) -> None:
        # of two ranks, the second highest probability
        second = np.exp(np.partition(part.log_probs.numpy(), -2, axis=-1)[:, -2])
        strength = np.where(distance > 1, distance * second, 0.0)
        strongest = [place for place in np.argsort(-strength, kind="stable")[:MOST_SUSPECTS] if strength[place] > 0]
        found = [Suspect(float(strength[place]), split, fold, int(part.items[place])) for place in strongest]
        order = sorted([*self.suspects, *found], key=lambda each: (-each.strength, each.split, each.fold, each.item))
        self.suspects = order[:MOST_SUSPECTS]

    def _keep_examples(self, part: Predictions) -> None:
        log_probs, predicted = part.log_probs.numpy(), part.predicted_index.numpy()
        for label in np.unique(predicted).tolist():
            examples_of_label = self.examples.setdefault(label, [])
            room = min(self.examples_per_run, self.most_examples - len(examples_of_label))
            examples_of_label.extend(np.exp(log_probs[predicted == label][: max(0, room)]))


FIGURES = ("ece", "rps", "nll")
"""What is measured of posteriors, by the names in the catalog of metrics."""


@dataclass(kw_only=True, eq=False)
class PosteriorFigures:
    """What is known of posteriors at one temperature per run."""

    reliability: Reliability | None = None
    """Of all runs together; none before the first."""
    figures: list[dict[str, float]] = field(default_factory=list)
    """The figures of each run."""

    def add(self, log_probs: torch.Tensor, labels: torch.Tensor) -> None:
        """Measures the test part of one more run."""
        found = reliability(log_probs, labels)
        self.reliability = found if self.reliability is None else self.reliability + found
        self.figures.append(
            {
                "ece": found.confidence_error,
                "rps": float(ranked_probability_score(log_probs, labels).mean()),
                "nll": float(negative_log_likelihood(log_probs, labels).mean()),
            }
        )

    def mean(self, name: str) -> float:
        """The mean over runs of one of `FIGURES`."""
        return sum(each[name] for each in self.figures) / len(self.figures)


@dataclass(kw_only=True, eq=False)
class CalibrationSummary:
    """The posteriors of one method before and after temperature scaling; `add` one run after the other."""

    trained: PosteriorFigures = field(default_factory=PosteriorFigures)
    calibrated: PosteriorFigures = field(default_factory=PosteriorFigures)
    temperatures: list[float] = field(default_factory=list)
    """One per run, as its validation part set it."""

    def add(self, part: Predictions, *, temperature: float) -> None:
        """Measures one run."""
        self.trained.add(part.log_probs, part.truth)
        self.calibrated.add(temper(part.log_probs, temperature), part.truth)
        self.temperatures.append(temperature)


CURVES = ("mae", "soi_predicted")
"""The validation metrics whose course is shown, after what chose the epochs."""
MOST_NUMBERS = 500_000
"""Probabilities of overlaid posteriors on a page; more would make it slow to open."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RunData:
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
    predictions: Mapping[str, PredictionSummary]
    calibration: Mapping[str, CalibrationSummary]
    """Of the rows whose runs know their temperature."""
    cases: tuple[Case, ...]
    distances: Mapping[str, Distance]
    """From the true posteriors; empty where these are not known."""
    bayes: BayesError | None
    notes: tuple[str, ...]


@dataclass(kw_only=True, eq=False)
class _PartialData:
    """What is filled while the runs are read, by row."""

    histories: dict[str, dict[str, list[npt.NDArray[np.float64]]]]
    """By metric first."""
    predictions: dict[str, PredictionSummary] = field(default_factory=dict)
    calibration: dict[str, CalibrationSummary] = field(default_factory=dict)
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
) -> RunData:
    """Reads the histories and predictions of all runs on one data set, one run in memory at a time."""
    methods = dict(zip(runs["label"], runs["method"], strict=True))
    classes = tuple(classes) or _classes(runs, source)
    num_examples = int(np.clip(most_numbers // max(1, len(methods) * len(classes) ** 2), 3, 40))
    per_run = {row: -(-num_examples // count) for row, count in runs["label"].value_counts().items()}
    partial = _PartialData(histories={metric: {} for metric in (*runs["selected_by"], *CURVES)})
    for run in runs.to_dict("records"):
        _read_history(run, partial)
        if classes:
            fresh = PredictionSummary(
                num_classes=len(classes), examples_per_run=per_run[run["label"]], most_examples=num_examples
            )
            _read_predictions(run, partial, fresh, source)
        on_run()
    chance = METRICS["soi_predicted"].chance
    predictions = partial.predictions
    return RunData(
        title=title,
        runs=runs,
        summary=summary,
        source=source,
        looks=styles({str(row): str(method) for row, method in methods.items()}),
        classes=classes,
        chance=chance(len(classes), "mode") if chance is not None and classes else None,
        scores={str(row): _scores(own) for row, own in runs.groupby("label", sort=False)},
        curves={
            metric: {row: curve(found) for row, found in rows.items()} for metric, rows in partial.histories.items()
        },
        predictions=predictions,
        calibration=partial.calibration,
        cases=tuple(_case(row, suspect, predictions, runs, source) for row, suspect in choose_suspects(predictions)),
        distances={
            row: Distance(divergence=np.array(found)[:, 0], variation=np.array(found)[:, 1])
            for row, found in partial.distances.items()
        },
        bayes=bayes_error(source.manifest.take(sorted(partial.tested))) if source.manifest and partial.tested else None,
        notes=_notes(partial, source, len(runs)),
    )


def _read_history(run: dict[Any, Any], partial: _PartialData) -> None:
    try:
        history = read_history(run["folder"])
    except InputError:
        return  # the curve goes without it; results and predictions do not depend on it
    for metric, rows in partial.histories.items():
        if {"epoch", f"valid_{metric}"} <= set(history.columns) and len(history):
            values = history[f"valid_{metric}"].to_numpy(dtype=np.float64)
            epochs = history["epoch"].to_numpy(dtype=np.int64)
            rows.setdefault(run["label"], []).append(at_every_epoch(epochs, values))


def _read_predictions(run: dict[Any, Any], partial: _PartialData, fresh: PredictionSummary, source: Source) -> None:
    try:
        part = part_predictions(run["folder"], "test")
    except InputError as error:
        partial.missing.append(str(error))
        return
    if not len(part):
        return
    if part.log_probs.shape[1] != fresh.num_classes:
        partial.missing.append(
            f"{run['folder']} has posteriors over {part.log_probs.shape[1]} classes, the data set {fresh.num_classes}."
        )
        return
    row = run["label"]
    partial.predictions.setdefault(row, fresh).add(part, split=run["split"], fold=run["fold"])
    if not np.isnan(run["temperature"]):  # as in results of earlier versions
        partial.calibration.setdefault(row, CalibrationSummary()).add(part, temperature=run["temperature"])
    truth = source.true_log_probs(part.items)
    if truth is not None:
        log_probs = part.log_probs.double().numpy()
        found = float(divergence(truth, log_probs).mean()), float(variation(truth, log_probs).mean())
        partial.distances.setdefault(row, []).append(found)
        partial.tested.update(part.items.tolist())


def _classes(runs: Frame, source: Source) -> tuple[str, ...]:
    """Names of the classes: from a model, from the data, or only their numbers; none where even these are not known."""
    if known := next(filter(None, (classes_of_model(Path(folder)) for folder in runs["folder"].head(5))), None):
        return known
    if source.manifest is not None:
        return source.manifest.classes
    number = runs["num_classes"].max()
    return () if np.isnan(number) else tuple(str(each) for each in range(int(number)))


def _scores(own: Frame) -> Scores:
    known = own[["test_mae", "test_soi_predicted"]].dropna().to_numpy(dtype=np.float64)
    return Scores(mae=known[:, 0], soi=known[:, 1])


def _notes(partial: _PartialData, source: Source, num_runs: int) -> tuple[str, ...]:
    notes = []
    if partial.missing:
        notes.append(
            f"The predictions of {counted(len(partial.missing), 'run')} of {num_runs} are left out of the figures, "
            f"the first because: {partial.missing[0]}"
        )
    if source.reason:
        notes.append(f"{source.reason} Images and true posteriors are left out.")
    return tuple(notes)


MOST_CASES = 6


def choose_suspects(predictions: Mapping[str, PredictionSummary]) -> list[tuple[str, Suspect]]:
    """Rows and their suspects: the strongest of each method first, then the strongest of all; no sample twice."""
    ranked = sorted(
        ((rank, row, suspect) for row, each in predictions.items() for rank, suspect in enumerate(each.suspects)),
        key=lambda each: (each[0] > 0, -each[2].strength),
    )
    chosen: dict[int, tuple[str, Suspect]] = {}
    for _, row, suspect in ranked:
        if len(chosen) < MOST_CASES:
            chosen.setdefault(suspect.item, (row, suspect))
    return sorted(chosen.values(), key=lambda each: -each[1].strength)


def _case(
    row: str, suspect: Suspect, predictions: Mapping[str, PredictionSummary], runs: Frame, source: Source
) -> Case:
    """The prediction of a row with all methods' posteriors of the same sample."""
    same = runs[(runs["split"] == suspect.split) & (runs["fold"] == suspect.fold)]
    found = {
        label: each
        for label, folder in zip(same["label"], same["folder"], strict=True)
        if label in predictions and (each := _prediction(folder, suspect.item)) is not None
    }
    accused = found[row]
    first, second = _two_highest(accused["log_probs"])
    label, path = int(accused["label"]), accused["path"]
    place = source.place(suspect.item, path, label)
    truth = None if place is None else source.true_log_probs(np.array([place]))
    return Case(
        row=row,
        split=suspect.split,
        fold=suspect.fold,
        place=place,
        label=label,
        first=first,
        second=second,
        probs={label: np.exp(each["log_probs"]) for label, each in found.items()},
        predicted={label: int(each["predicted"]) for label, each in found.items()},
        truth=None if truth is None else truth[0],
        name=source.name(suspect.item, path, label),
    )


def _prediction(folder: str, item: int) -> dict[str, Any] | None:
    """What one run says of one sample; nothing where it is not in its test part, or cannot be read."""
    try:
        found = read_predictions(folder, columns=("item", "path", "label", "predicted", "log_probs"), part="test")
    except InputError:
        return None  # the notes of the report say so
    places = np.flatnonzero(found["item"] == item)
    return {name: column[places[0]] for name, column in found.items()} if len(places) else None


def _two_highest(log_probs: Any) -> tuple[int, int]:
    """The most probable label and the second; of equals the lowest first, and the nearest to it second."""
    first = int(np.argmax(log_probs))
    others = [label for label in range(len(log_probs)) if label != first]
    return first, min(others, key=lambda label: (-log_probs[label], abs(label - first)))
