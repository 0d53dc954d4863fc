"""The posteriors of all runs, as the records behind every page but the first. Needs torch."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt
import torch

from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError
from onepeak.posterior import is_unimodal, project
from onepeak.posterior.predictions import Unlike
from onepeak.report.source import Source
from onepeak.serving.actions import Unsure, action_of
from onepeak.serving.importance import ColumnImportance, WordWeights, column_importance, word_weights
from onepeak.serving.inspector.images import EvidenceMaps, ImageReader
from onepeak.serving.inspector.inspection import Filter
from onepeak.serving.inspector.notes import SampleNote, SampleNotes
from onepeak.serving.inspector.runs import FinishedRun
from onepeak.serving.inspector.samples import Archive, Integers, RunPredictions, Samples, chosen, interval_ends
from onepeak.training.calibration import Calibration
from onepeak.training.model_files import WEIGHTS

DIGITS = 5
"""Decimals of a probability that is sent to a page."""


@dataclass(frozen=True, kw_only=True)
class SamplePrediction:
    """Everything about one posterior. Classes are counted from 0."""

    log_probs: list[float | None]
    """None for the logarithm of zero, as JSON has no infinity."""
    raw: bool
    """Whether `predict` would show other, calibrated probabilities."""
    projected: list[float]
    """The nearest posterior with one peak."""
    predicted: int
    distance: float | None
    """From the training samples, usually within 1; None if the run did not record it."""
    unlike: Unlike
    refer: str | None
    """Why a person should be asked, by the model's policy; None for runs, which are shown as they are."""
    action: str | None
    """What would be done; None without a file of actions."""
    interval: tuple[int, int] | None
    """Contains the true class for a share of 1 - alpha of all samples; None if the model was not calibrated."""
    soi: float
    unimodal: bool
    paradoxical: bool


def answer(
    predictions: RunPredictions,
    place: int,
    calibration: Calibration | None,
    actions: Sequence[str] = (),
    unsure: Unsure = "highest",
) -> SamplePrediction:
    """Analyses the posterior at one place among the predictions of a run."""
    own = predictions.predictions.take([place])
    interval = _interval(predictions, place, calibration)
    row = own[0] if interval is None else replace(own[0], lower=interval[0], upper=interval[1])
    if not own.unlike and row.distance is not None and row.distance > 1:  # a run records no more
        row = replace(row, unlike=("features",))
    return SamplePrediction(
        log_probs=finite(own.log_probs[0]),
        raw=not predictions.calibrated and calibration is not None and calibration.temperature != 1,
        projected=rounded(project(own.log_probs)[0].exp().numpy()),
        predicted=int(own.predicted_index),
        distance=None if own.distance is None else round(float(own.distance), 3),
        unlike=row.unlike,
        refer=row.refer,
        action=action_of(row, actions, unsure=unsure) if actions else None,
        interval=interval,
        soi=float(own.soi),
        unimodal=bool(own.unimodal),
        paradoxical=bool(own.paradoxical),
    )


def _interval(predictions: RunPredictions, place: int, calibration: Calibration | None) -> tuple[int, int] | None:
    own = predictions.predictions.take([place])
    ends = interval_ends(replace(predictions, predictions=own), calibration)
    return None if ends is None else (int(ends[0, 0]), int(ends[0, 1]))


def finite(log_probs: torch.Tensor) -> list[float | None]:
    """Logarithms for JSON, exactly, so that ties stay ties."""
    return [value if math.isfinite(value) else None for value in log_probs.tolist()]


def rounded(probs: npt.NDArray[np.floating]) -> list[float]:
    """Rounds probabilities for sending."""
    return [round(value, DIGITS) for value in probs.astype(np.float64).tolist()]


Kind: TypeAlias = Literal["pictures", "rows", "nothing"]
"""What can be shown of a sample besides its posterior."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One sample in the grid."""

    part: str
    item: int
    name: str
    truth: int
    trained_on: bool
    predicted: int
    interval: tuple[int, int] | None
    soi: float
    paradoxical: bool
    distance: float | None
    log_probs: list[float | None]
    features: dict[str, str]
    """The first few columns, for tables."""
    flag: bool
    note: str
    other: int | None
    """The prediction of the other row of the filter."""
    other_probs: list[float] | None


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page of the samples that pass a filter."""

    kind: Kind
    reason: str
    """Why there are no images."""
    total: int
    page: int
    """From 1."""
    num_pages: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, kw_only=True)
class MethodPrediction:
    """The prediction of one row for the sample."""

    row: str
    answer: SamplePrediction
    no_evidence: str
    """Why its model cannot make an evidence map; empty if it can."""
    evidence_range: tuple[float, float] | None
    """The values that its maps draw as nothing and as brightest; None if they share no scale."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The position of a sample in the list that the user came from."""

    position: int | None
    """From 1; None where the sample is not in the list."""
    total: int
    previous: Mapping[str, str | int] | None
    """Its `part` and `item`."""
    next: Mapping[str, str | int] | None


@dataclass(frozen=True, kw_only=True)
class OneSample:
    """Everything the runs predict for one sample."""

    part: str
    item: int
    name: str
    truth: int
    trained_on: bool
    """Whether the inspected model was trained on it; never true for a run's test part."""
    kind: Kind
    reason: str
    """Why there is no image."""
    features: dict[str, str]
    text: str | None
    """The column that holds a text; None where there is none."""
    true_probs: list[float] | None
    """The true posterior, known for generated data only."""
    parts: tuple[str, ...]
    """All splits and folds whose test part contains the sample."""
    answers: tuple[MethodPrediction, ...]
    surroundings: Surroundings
    flag: bool
    note: str


MOST_NUMBERS = 60_000
"""Probabilities sent for one label, over all rows: as many as a browser draws without a delay."""


@dataclass(frozen=True, kw_only=True)
class RowPosteriors:
    """The posteriors of one row that predict the label."""

    row: str
    count: int
    unimodal: float | None
    """The share of all of them that have one peak; None if there are none."""
    mean: list[float]
    shown: tuple[list[float], ...]
    """As many as can be drawn, evenly spaced."""


@dataclass(frozen=True, kw_only=True)
class LabelView:
    """One label over all rows."""

    label: int
    rows: tuple[RowPosteriors, ...]
    highest: float
    """The largest probability shown, so that all rows share one scale."""


def label_view(
    predictions: Mapping[str, Sequence[RunPredictions]],
    label: int,
    *,
    num_classes: int,
    most_numbers: int = MOST_NUMBERS,
) -> LabelView:
    """Collects the posteriors with one predicted label, from the predictions of each row's runs."""
    most = max(1, most_numbers // max(1, len(predictions) * num_classes))
    rows = tuple(_row(row, runs, label, num_classes, most) for row, runs in predictions.items())
    return LabelView(
        label=label, rows=rows, highest=max((max(map(max, row.shown)) for row in rows if row.shown), default=1.0)
    )


def _row(row: str, runs: Sequence[RunPredictions], label: int, num_classes: int, most: int) -> RowPosteriors:
    known = [each.predictions for each in runs if len(each)]
    own = [each.log_probs[each.predicted_index == label].numpy() for each in known]
    log_probs = np.concatenate([np.empty((0, num_classes), dtype=np.float32), *own])
    if not len(log_probs):
        return RowPosteriors(row=row, count=0, unimodal=None, mean=[], shown=())
    probs = np.exp(log_probs)
    places = np.unique(np.linspace(0, len(probs) - 1, min(most, len(probs))).round().astype(np.int64))
    return RowPosteriors(
        row=row,
        count=len(probs),
        unimodal=float(is_unimodal(torch.from_numpy(log_probs)).double().mean()),
        mean=rounded(probs.mean(axis=0)),
        shown=tuple(rounded(probs[place]) for place in places),
    )


@dataclass(frozen=True, kw_only=True)
class SampleMap:
    """Where samples lie on the two axes along which the training differs most, as the network sees it."""

    part: str
    total: int
    """Samples that pass the filter; of very many only some are among the columns."""
    columns: dict[str, list[Any]]
    """One value per sample; empty if the run recorded no coordinates."""


MOST_POINTS = 4000
"""Samples on a map: as many as a browser draws without a delay."""


PAGE_SIZE = 60
"""Same as in `static/address.js`."""
FEW_FEATURES = 4
"""Columns of a table that fit in the grid."""


@final
class Posteriors:
    """Answers the pages' requests; thread-safe. `given` are predictions that are not on disk, by row and part."""

    def __init__(
        self,
        runs: Sequence[FinishedRun],
        classes: Sequence[str],
        source: Source,
        given: Mapping[tuple[str, str], RunPredictions],
        notes: SampleNotes,
        actions: Sequence[str] = (),
        unsure: Unsure = "highest",
    ) -> None:
        self.notes = notes
        self._act = (actions, unsure)
        self.archive = Archive(runs, len(classes), given)
        self.source = source
        self.images = ImageReader(source)
        self.maps = EvidenceMaps()
        self._words: dict[tuple[str, int], WordWeights] = {}
        self._columns: dict[tuple[str, str], tuple[ColumnImportance, ...]] = {}

    @property
    def kind(self) -> Kind:
        """What can be shown of a sample besides its posterior."""
        if self.source.manifest is None:
            return "nothing"
        return "rows" if isinstance(self.source.manifest.items, FeatureRows) else "pictures"

    @property
    def _text(self) -> str | None:
        """The column of texts, where the samples have one."""
        rows = None if self.source.manifest is None else self.source.manifest.items
        return rows.texts.column if isinstance(rows, FeatureRows) and rows.texts is not None else None

    def page(self, wanted: Filter, page: int) -> Page:
        """Returns the samples of one page of the grid; the last page for a higher number."""
        samples, places = self._chosen(wanted)
        predictions = self.archive.of_row(wanted.method)
        num_pages = max(1, -(-len(places) // PAGE_SIZE))
        page = min(page, num_pages)
        shown = places[(page - 1) * PAGE_SIZE : page * PAGE_SIZE].tolist()
        return Page(
            kind=self.kind,
            reason=self.source.reason,
            total=len(places),
            page=page,
            num_pages=num_pages,
            entries=tuple(self._entry(samples, index, predictions[samples.part_of(index)], wanted) for index in shown),
        )

    def sample(self, part: str, item: int, wanted: Filter) -> OneSample:
        """Returns the prediction of every row for one sample of a part, and its place in the list of a filter."""
        found = list(self.archive.of_part(part, item))
        if not found:
            raise InputError(f"Sample {item} is not in the test set of split {part}.")
        _, predictions, place = found[0]
        where = self._where(predictions, place)
        truth = None if where is None else self.source.true_log_probs(np.array([where]))
        missing = "" if where is not None else "The data no longer holds this sample with the same label."
        return OneSample(
            part=part,
            item=item,
            name=predictions.name(place, self.source),
            truth=int(predictions.predictions.truth[place]),
            trained_on=predictions.learnt(place),
            kind="nothing" if where is None else self.kind,
            reason=self.source.reason or missing,
            features={} if where is None else self.source.features(where),
            text=self._text,
            true_probs=None if truth is None else rounded(np.exp(truth[0])),
            parts=self.archive.parts_with(item),
            answers=tuple(self._answer(*each) for each in found),
            surroundings=self._surroundings(part, item, wanted),
            **self._note(part, item),
        )

    def confusion(self, row: str, part: str | None) -> list[list[int]]:
        """Returns how often each true class (rows) was given each class (columns), of one part or of all."""
        samples = self.archive.samples(row)
        own = np.ones(len(samples), dtype=bool) if part is None else samples.is_of(part)
        counts = np.zeros((self.archive.num_classes, self.archive.num_classes), dtype=np.int64)
        np.add.at(counts, (samples.label[own], samples.predicted[own]), 1)
        found: list[list[int]] = counts.tolist()
        return found

    def csv(self, wanted: Filter, classes: Sequence[str]) -> str:
        """Returns all samples that pass a filter as CSV, one line per sample, with the user's notes."""
        samples, places = self._chosen(wanted)
        predictions = self.archive.of_row(wanted.method)
        file = io.StringIO()
        writer = csv.writer(file)
        header = ("part", "item", "name", "true_class", "predicted_class", "error", "probability", "soi", "paradoxical")
        writer.writerow((*header, "flag", "note"))
        for index in places.tolist():
            part, item = samples.part_of(index), int(samples.item[index])
            truth, predicted = int(samples.label[index]), int(samples.predicted[index])
            shown, note = (f"{samples.sure[index]:.5f}", f"{samples.soi[index]:.5f}"), self._note(part, item)
            name = predictions[part].name(int(samples.place[index]), self.source)
            line = (part, item, name, classes[truth], classes[predicted], abs(truth - predicted), *shown)
            marks = (bool(samples.paradoxical[index]), note["flag"])
            writer.writerow((*line, *("yes" if each else "no" for each in marks), note["note"]))
        return file.getvalue()

    def put_note(self, part: str, item: int, *, flag: bool, note: str) -> None:
        """Puts a flag and a note on a sample that some run tested on."""
        for _, predictions, place in self.archive.of_part(part, item):
            name = predictions.name(place, self.source)
            self.notes.put(SampleNote(part=part, item=item, name=name, flag=flag, note=note))
            return
        raise InputError(f"Sample {item} is not in the test set of split {part}.")

    def _note(self, part: str, item: int) -> dict[str, Any]:
        note = self.notes.known.get((part, item))
        return {"flag": note is not None and note.flag, "note": "" if note is None else note.note}

    def label(self, label: int, part: str | None) -> LabelView:
        """Returns all posteriors with one predicted label, by row; of one part or of all."""
        rows = dict.fromkeys(row for row, _ in self.archive.runs)
        predictions = {row: list(self.archive.of_row(row, part).values()) for row in rows}
        return label_view(predictions, label, num_classes=self.archive.num_classes)

    def where(self, part: str, item: int) -> int | None:
        """Returns the position of a tested sample in the data; None if it is not there."""
        for _, predictions, place in self.archive.of_part(part, item):
            return self._where(predictions, place)
        return None

    def evidence(self, row: str, part: str, item: int, label: int) -> list[list[float]] | None:
        """Returns the evidence map of one class; None without such a sample, image or model."""
        run, where = self.archive.runs.get((row, part)), self.where(part, item)
        image = None if where is None else self.source.image(where)
        if run is None or image is None or self._no_evidence(run):
            return None
        return self.maps.rows(run, image, label)

    def words(self, row: str, part: str, item: int) -> WordWeights | None:
        """Returns what each word of a text does to its prediction; None without such a sample, text or model."""
        run, where = self.archive.runs.get((row, part)), self.where(part, item)
        if run is None or where is None or self._text is None or not _has_model(run):
            return None
        key = str(run.folder), where
        if key not in self._words:
            model, features = self.maps.model(run.folder), self.source.features(where)
            self._words[key] = word_weights(lambda rows: model.predict(rows).probs, features, self._text)
        return self._words[key]

    def columns(self, row: str, part: str) -> tuple[ColumnImportance, ...] | None:
        """Returns what the predictions of a run rest on in its test part; None without a table or a model."""
        run, predictions = self.archive.runs.get((row, part)), self.archive.of_row(row, part).get(part)
        data = self.source.manifest
        if run is None or predictions is None or data is None or self.kind != "rows" or not _has_model(run):
            return None
        if (row, part) not in self._columns:
            found = (self._where(predictions, place) for place in range(len(predictions)))
            known = [where for where in found if where is not None]
            self._columns[row, part] = column_importance(self.maps.model(run.folder), data.take(known), shuffles=3)
        return self._columns[row, part]

    def map(self, wanted: Filter) -> SampleMap:
        """Returns where the samples of one part lie for the network: each run has axes of its own."""
        part = wanted.part or self.archive.samples(wanted.method).parts[0]
        samples, places = self._chosen(replace(wanted, part=part, sort="item"))
        found = self.archive.of_row(wanted.method, part).get(part)  # none where this run failed
        coordinates = None if found is None else found.predictions.coordinates
        if coordinates is None or coordinates.shape[1] < 2:
            return SampleMap(part=part, total=len(places), columns={})
        shown = places[np.unique(np.linspace(0, len(places) - 1, min(MOST_POINTS, len(places))).astype(np.int64))]
        x, y = coordinates[torch.from_numpy(samples.place[shown]), :2].T.numpy().round(4)
        row = wanted.method
        return SampleMap(
            part=part,
            total=len(places),
            columns={
                "item": samples.item[shown].tolist(),
                "x": x.tolist(),
                "y": y.tolist(),
                "truth": samples.label[shown].tolist(),
                "predicted": samples.predicted[shown].tolist(),
                "distance": np.nan_to_num(samples.distance[shown]).round(2).tolist(),
                "doubtful": self.archive.doubtful(row)[shown].tolist(),
                "twin": self.archive.twins(row)[shown].tolist(),
            },
        )

    def _chosen(self, wanted: Filter) -> tuple[Samples, Integers]:
        samples = self.archive.samples(wanted.method)
        named = wanted.search.strip() or wanted.group.strip()
        return samples, chosen(
            samples,
            wanted,
            self.archive.names(wanted.method, self.source) if named else {},
            others=None if wanted.other is None else self.archive.others(wanted.method, wanted.other),
            widths=self.archive.widths(wanted.method) if wanted.min_width else None,
            marked=[
                *([self._flagged(samples)] if wanted.flagged else []),
                *([self.archive.doubtful(wanted.method)] if wanted.doubtful else []),
                *([self.archive.twins(wanted.method)] if wanted.twins else []),
            ],
        )

    def _flagged(self, samples: Samples) -> npt.NDArray[np.bool_]:
        flagged = {key for key, note in self.notes.known.items() if note.flag}
        return np.array([(samples.part_of(index), item) in flagged for index, item in enumerate(samples.item.tolist())])

    def _entry(self, samples: Samples, index: int, predictions: RunPredictions, wanted: Filter) -> Entry:
        place, predicted = int(samples.place[index]), int(samples.predicted[index])
        part, item = samples.part_of(index), int(samples.item[index])
        other, other_probs = self._other(part, item, wanted.other)
        where = self._where(predictions, place) if self.kind == "rows" else None
        return Entry(
            part=part,
            item=item,
            name=predictions.name(place, self.source),
            truth=int(samples.label[index]),
            trained_on=predictions.learnt(place),
            predicted=predicted,
            interval=_interval(predictions, place, self.archive.calibration(self.archive.runs[wanted.method, part])),
            soi=round(float(samples.soi[index]), 4),
            paradoxical=bool(samples.paradoxical[index]),
            distance=None if math.isnan(samples.distance[index]) else round(float(samples.distance[index]), 3),
            log_probs=finite(predictions.predictions.log_probs[place]),
            features={} if where is None else dict(islice(self.source.features(where).items(), FEW_FEATURES)),
            other=other,
            other_probs=other_probs,
            **self._note(part, item),
        )

    def _other(self, part: str, item: int, row: str | None) -> tuple[int | None, list[float] | None]:
        """The prediction of another row for a sample, and its posterior."""
        predictions = None if row is None else self.archive.of_row(row, part).get(part)
        place = None if predictions is None else predictions.place(item)
        if predictions is None or place is None:
            return None, None
        found = predictions.predictions
        return int(found.predicted_index[place]), rounded(np.exp(found.log_probs[place].numpy()))

    def _answer(self, run: FinishedRun, predictions: RunPredictions, place: int) -> MethodPrediction:
        found = answer(predictions, place, self.archive.calibration(run), *self._act)
        missing = self._no_evidence(run)
        ends = None if missing else self.maps.ends(run)
        return MethodPrediction(row=run.row, answer=found, no_evidence=missing, evidence_range=ends)

    def _surroundings(self, part: str, item: int, wanted: Filter) -> Surroundings:
        samples, places = self._chosen(wanted)
        own = samples.parts.index(part) if part in samples.parts else -1
        found = np.flatnonzero((samples.item[places] == item) & (samples.part[places] == own))
        if not len(found):
            return Surroundings(position=None, total=len(places), previous=None, next=None)
        here = int(found[0])

        def at(position: int) -> dict[str, str | int] | None:
            if not 0 <= position < len(places):
                return None
            index = int(places[position])
            return {"part": samples.part_of(index), "item": int(samples.item[index])}

        return Surroundings(position=here + 1, total=len(places), previous=at(here - 1), next=at(here + 1))

    def _where(self, predictions: RunPredictions, place: int) -> int | None:
        return self.source.place(*predictions.known_by(place))

    def _no_evidence(self, run: FinishedRun) -> str:
        return self.maps.missing(run) if self.kind == "pictures" else "There are no images."


def _has_model(run: FinishedRun) -> bool:
    return (run.folder / WEIGHTS).is_file()
