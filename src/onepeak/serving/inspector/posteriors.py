"""Every posterior of every run, read when it is asked for: behind all pages but the first. This half needs torch."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, final

import numpy as np

from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError
from onepeak.report.source import Source
from onepeak.serving.inspector.bounded_cache import BoundedCache
from onepeak.serving.inspector.calibrations import read_calibration
from onepeak.serving.inspector.evidence_map import EvidenceMaps
from onepeak.serving.inspector.filters import Filter
from onepeak.serving.inspector.label_view import LabelView, label_view
from onepeak.serving.inspector.one_sample import Answer, answer, rounded, violations
from onepeak.serving.inspector.pictures import Pictures
from onepeak.serving.inspector.runs import Run
from onepeak.serving.inspector.said import Said, read_said
from onepeak.serving.inspector.sample_names import sample_name, sample_names
from onepeak.serving.inspector.samples import Samples, chosen, samples_of
from onepeak.training.calibration import Calibration
from onepeak.training.model_files import WEIGHTS

PAGE_SIZE = 60
"""As in `static/address.js`."""
FEW_FEATURES = 4
"""Columns of a table that fit into the grid."""
_MOST_BYTES = 256 * 2**20

Kind = Literal["pictures", "rows", "nothing"]
"""What can be shown of a sample besides its posterior."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One sample in the grid."""

    part: str
    item: int
    name: str
    truth: int
    predicted: int
    soi: float
    paradoxical: bool
    probs: list[float]
    out_of_order: list[int]
    """Classes that are not less probable than their neighbour on the way to the prediction."""
    features: dict[str, str]
    """The first few columns, for tables."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """Some of the samples that a filter leaves."""

    kind: Kind
    reason: str
    """Why there are no pictures."""
    total: int
    page: int
    """From 1."""
    num_pages: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, kw_only=True)
class MethodAnswer:
    """What one row says of the sample."""

    row: str
    answer: Answer
    evidence: bool
    """Whether its model can show where the class comes from."""


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """The sample before or after in the list that the user came from."""

    part: str
    item: int


@dataclass(frozen=True, kw_only=True)
class OneSample:
    """All that the runs say of one sample."""

    part: str
    item: int
    name: str
    truth: int
    kind: Kind
    reason: str
    """Why there is no picture."""
    features: dict[str, str]
    true_probs: list[float] | None
    """The true posterior, known only for generated data."""
    parts: tuple[str, ...]
    """All splits and folds in whose test part the sample is."""
    answers: tuple[MethodAnswer, ...]
    position: int | None
    """In the list that the user came from, from 1; None where the sample is not in it."""
    total: int
    previous: Neighbour | None
    next: Neighbour | None


@final
class Posteriors:
    """Answers the pages' questions; threads may share it.

    Args:
        runs: All runs.
        classes: The classes in their order.
        source: The data.
        given: What runs said, where it lies on no disk: by row and part.
    """

    def __init__(
        self, runs: Sequence[Run], classes: Sequence[str], source: Source, given: Mapping[tuple[str, str], Said]
    ) -> None:
        self.runs = {(run.row, run.part): run for run in runs}
        self.num_classes = len(classes)
        self.source = source
        self.pictures = Pictures(source)
        self.maps = EvidenceMaps()
        self._given = given
        self._said: BoundedCache[Said] = BoundedCache(most=_MOST_BYTES, size=lambda said: said.num_bytes)
        self._calibrations: BoundedCache[Calibration | None] = BoundedCache(most=1000, size=lambda _: 1)
        self._samples: dict[str, Samples] = {}
        self._names: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    @property
    def kind(self) -> Kind:
        """What can be shown of samples."""
        if self.source.manifest is None:
            return "nothing"
        return "rows" if isinstance(self.source.manifest.items, FeatureRows) else "pictures"

    def page(self, wanted: Filter, page: int) -> Page:
        """The samples of one page of the grid; the last page for a number beyond it."""
        samples, places = self._chosen(wanted)
        num_pages = max(1, -(-len(places) // PAGE_SIZE))
        page = min(page, num_pages)
        shown = places[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
        return Page(
            kind=self.kind,
            reason=self.source.reason,
            total=len(places),
            page=page,
            num_pages=num_pages,
            entries=tuple(self._entry(wanted.method, samples, int(place)) for place in shown),
        )

    def sample(self, part: str, item: int, wanted: Filter) -> OneSample:
        """What every row says of one sample of a part.

        Raises:
            InputError: No run tested on it.
        """
        answers, seen = [], None
        for (row, own), run in self.runs.items():
            said = self._read(run) if own == part else None
            place = None if said is None else said.place(item)
            if said is None or place is None:
                continue
            seen = said, place
            found = answer(said.log_probs[place], int(said.predicted[place]), self._calibration(run))
            answers.append(MethodAnswer(row=row, answer=found, evidence=self._has_evidence(run)))
        if seen is None:
            raise InputError(f"`item` must be in the test part of split {part}, got {item}, which no run tested on.")
        said, place = seen
        where = self._where(said, place)
        truth = None if where is None else self.source.true_log_probs(np.array([where]))
        position, total, before, after = self._neighbours(part, item, wanted)
        missing = "" if where is not None else "The data no longer hold this sample with the same label."
        return OneSample(
            part=part,
            item=item,
            name=sample_name(said, place, self.source),
            truth=int(said.label[place]),
            kind="nothing" if where is None else self.kind,
            reason=self.source.reason or missing,
            features={} if where is None else self.source.features(where),
            true_probs=None if truth is None else rounded(np.exp(truth[0])),
            parts=self._parts_with(item),
            answers=tuple(answers),
            position=position,
            total=total,
            previous=before,
            next=after,
        )

    def label(self, label: int, part: str | None) -> LabelView:
        """All posteriors with one predicted label, by row.

        Args:
            label: The label.
            part: Of one split and fold; of all where not given.
        """
        rows = dict.fromkeys(row for row, _ in self.runs)
        said = {
            row: [
                found
                for (own, each), run in self.runs.items()
                if own == row and part in (None, each) and (found := self._read(run)) is not None
            ]
            for row in rows
        }
        return label_view(said, label, num_classes=self.num_classes)

    def where(self, part: str, item: int) -> int | None:
        """Where a tested sample lies in the data; None where it is not there."""
        for (_, own), run in self.runs.items():
            said = self._read(run) if own == part else None
            place = None if said is None else said.place(item)
            if said is not None and place is not None:
                return self._where(said, place)
        return None

    def evidence(self, row: str, part: str, item: int, label: int) -> bytes | None:
        """The evidence map of one class; None where there is no such sample, picture or model."""
        run, where = self.runs.get((row, part)), self.where(part, item)
        picture = None if where is None else self.source.picture(where)
        if run is None or picture is None or not self._has_evidence(run):
            return None
        return self.maps.png(run, picture, label)

    def _chosen(self, wanted: Filter) -> tuple[Samples, "np.ndarray[tuple[int], np.dtype[np.int64]]"]:
        samples = self._of_row(wanted.method)
        names = {part: self._names_of(wanted.method, part) for part in samples.parts} if wanted.search.strip() else {}
        return samples, chosen(samples, wanted, names)

    def _of_row(self, row: str) -> Samples:
        with self._lock:
            if row not in self._samples:
                runs = [run for (own, _), run in self.runs.items() if own == row]
                said = {run.part: found for run in runs if (found := self._read(run)) is not None}
                if not said:
                    where = runs[0].folder if runs else row
                    raise InputError(f"`{row}` must have runs whose predictions can be read, got none: see {where}.")
                self._samples[row] = samples_of(said)
            return self._samples[row]

    def _names_of(self, row: str, part: str) -> list[str]:
        if part not in self._names:  # made twice at worst, and the same
            said = self._read(self.runs[row, part])
            self._names[part] = [] if said is None else sample_names(said, self.source)
        return self._names[part]

    def _entry(self, row: str, samples: Samples, index: int) -> Entry:
        part, place = samples.parts[samples.part[index]], int(samples.place[index])
        said = self._read(self.runs[row, part])
        if said is None:
            raise InputError(f"The predictions of {self.runs[row, part].folder} can no longer be read.")
        where = self._where(said, place) if self.kind == "rows" else None
        return Entry(
            part=part,
            item=int(samples.item[index]),
            name=sample_name(said, place, self.source),
            truth=int(samples.label[index]),
            predicted=int(samples.predicted[index]),
            soi=round(float(samples.soi[index]), 4),
            paradoxical=bool(samples.paradoxical[index]),
            probs=rounded(np.exp(said.log_probs[place])),
            out_of_order=[pair.outer for pair in violations(said.log_probs[place], int(said.predicted[place]))],
            features={} if where is None else dict(islice(self.source.features(where).items(), FEW_FEATURES)),
        )

    def _neighbours(
        self, part: str, item: int, wanted: Filter
    ) -> tuple[int | None, int, Neighbour | None, Neighbour | None]:
        samples, places = self._chosen(wanted)
        parts = np.array(samples.parts)[samples.part[places]] if len(places) else np.empty(0, dtype=str)
        found = np.flatnonzero((samples.item[places] == item) & (parts == part))
        if not len(found):
            return None, len(places), None, None
        here = int(found[0])

        def at(index: int) -> Neighbour | None:
            if not 0 <= index < len(places):
                return None
            return Neighbour(part=str(parts[index]), item=int(samples.item[places[index]]))

        return here + 1, len(places), at(here - 1), at(here + 1)

    def _parts_with(self, item: int) -> tuple[str, ...]:
        one_each = {part: run for (_, part), run in self.runs.items()}
        return tuple(
            part
            for part, run in one_each.items()
            if (said := self._read(run)) is not None and said.place(item) is not None
        )

    def _where(self, said: Said, place: int) -> int | None:
        return self.source.place(int(said.item[place]), said.path[place], int(said.label[place]))

    def _read(self, run: Run) -> Said | None:
        """What a run said; None where it cannot be read: the other runs are shown without it."""

        def make() -> Said:
            if (run.row, run.part) in self._given:
                return self._given[run.row, run.part]
            return read_said(run, self.num_classes)

        try:
            return self._said.get((run.row, run.part), make)
        except InputError:
            return None

    def _calibration(self, run: Run) -> Calibration | None:
        return self._calibrations.get((run.row, run.part), lambda: read_calibration(run))

    def _has_evidence(self, run: Run) -> bool:
        return self.kind == "pictures" and (run.folder / WEIGHTS).is_file()
