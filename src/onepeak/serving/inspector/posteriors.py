"""The posteriors of all runs, behind every page but the first. Needs torch."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import final

import numpy as np

from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError
from onepeak.report.source import Source
from onepeak.serving.inspector.archive import Archive
from onepeak.serving.inspector.evidence_map import EvidenceMaps
from onepeak.serving.inspector.filters import Filter
from onepeak.serving.inspector.label_view import LabelView, label_view
from onepeak.serving.inspector.one_sample import answer, rounded, violations
from onepeak.serving.inspector.pictures import Pictures
from onepeak.serving.inspector.runs import Run
from onepeak.serving.inspector.said import Said
from onepeak.serving.inspector.samples import Integers, Samples, chosen
from onepeak.serving.inspector.shown import Entry, Kind, MethodAnswer, Neighbour, OneSample, Page, Surroundings

PAGE_SIZE = 60
"""Same as in `static/address.js`."""
FEW_FEATURES = 4
"""Columns of a table that fit in the grid."""


@final
class Posteriors:
    """Answers the pages' requests; thread-safe.

    Args:
        runs: All runs.
        classes: The classes in their order.
        source: The data.
        given: Predictions that are not on disk, by row and part.
    """

    def __init__(
        self, runs: Sequence[Run], classes: Sequence[str], source: Source, given: Mapping[tuple[str, str], Said]
    ) -> None:
        self.archive = Archive(runs, len(classes), given)
        self.source = source
        self.pictures = Pictures(source)
        self.maps = EvidenceMaps()

    @property
    def kind(self) -> Kind:
        """What can be shown of a sample besides its posterior."""
        if self.source.manifest is None:
            return "nothing"
        return "rows" if isinstance(self.source.manifest.items, FeatureRows) else "pictures"

    def page(self, wanted: Filter, page: int) -> Page:
        """Returns the samples of one page of the grid; the last page for a higher number."""
        samples, places = self._chosen(wanted)
        said = self.archive.of_row(wanted.method)
        num_pages = max(1, -(-len(places) // PAGE_SIZE))
        page = min(page, num_pages)
        shown = places[(page - 1) * PAGE_SIZE : page * PAGE_SIZE].tolist()
        return Page(
            kind=self.kind,
            reason=self.source.reason,
            total=len(places),
            page=page,
            num_pages=num_pages,
            entries=tuple(self._entry(samples, index, said[samples.part_of(index)]) for index in shown),
        )

    def sample(self, part: str, item: int, wanted: Filter) -> OneSample:
        """Returns the prediction of every row for one sample of a part.

        Args:
            part: The split and fold.
            item: The sample.
            wanted: The filter of the list that the user came from, for the previous and next sample.

        Raises:
            InputError: No run tested on it.
        """
        found = list(self.archive.of_part(part, item))
        if not found:
            raise InputError(f"`item` must be in the test part of split {part}, got {item}, which no run tested on.")
        _, said, place = found[0]
        where = self._where(said, place)
        truth = None if where is None else self.source.true_log_probs(np.array([where]))
        missing = "" if where is not None else "The data no longer holds this sample with the same label."
        return OneSample(
            part=part,
            item=item,
            name=said.name(place, self.source),
            truth=int(said.label[place]),
            trained_on=said.learnt(place),
            kind="nothing" if where is None else self.kind,
            reason=self.source.reason or missing,
            features={} if where is None else self.source.features(where),
            true_probs=None if truth is None else rounded(np.exp(truth[0])),
            parts=self.archive.parts_with(item),
            answers=tuple(self._answer(*each) for each in found),
            surroundings=self._surroundings(part, item, wanted),
        )

    def label(self, label: int, part: str | None) -> LabelView:
        """Returns all posteriors with one predicted label, by row.

        Args:
            label: The label.
            part: One split and fold; by default all.
        """
        rows = dict.fromkeys(row for row, _ in self.archive.runs)
        said = {row: list(self.archive.of_row(row, part).values()) for row in rows}
        return label_view(said, label, num_classes=self.archive.num_classes)

    def where(self, part: str, item: int) -> int | None:
        """Returns the position of a tested sample in the data; None if it is not there."""
        for _, said, place in self.archive.of_part(part, item):
            return self._where(said, place)
        return None

    def evidence(self, row: str, part: str, item: int, label: int) -> bytes | None:
        """Returns the evidence map of one class; None without such a sample, image or model."""
        run, where = self.archive.runs.get((row, part)), self.where(part, item)
        picture = None if where is None else self.source.picture(where)
        if run is None or picture is None or self._no_evidence(run):
            return None
        return self.maps.png(run, picture, label)

    def _chosen(self, wanted: Filter) -> tuple[Samples, Integers]:
        samples = self.archive.samples(wanted.method)
        names = self.archive.names(wanted.method, self.source) if wanted.search.strip() else {}
        return samples, chosen(samples, wanted, names)

    def _entry(self, samples: Samples, index: int, said: Said) -> Entry:
        place, predicted = int(samples.place[index]), int(samples.predicted[index])
        where = self._where(said, place) if self.kind == "rows" else None
        return Entry(
            part=samples.part_of(index),
            item=int(samples.item[index]),
            name=said.name(place, self.source),
            truth=int(samples.label[index]),
            trained_on=said.learnt(place),
            predicted=predicted,
            soi=round(float(samples.soi[index]), 4),
            paradoxical=bool(samples.paradoxical[index]),
            probs=rounded(np.exp(said.log_probs[place])),
            out_of_order=[pair.outer for pair in violations(said.log_probs[place], predicted)],
            features={} if where is None else dict(islice(self.source.features(where).items(), FEW_FEATURES)),
        )

    def _answer(self, run: Run, said: Said, place: int) -> MethodAnswer:
        found = answer(
            said.log_probs[place],
            int(said.predicted[place]),
            self.archive.calibration(run),
            calibrated=said.calibrated,
        )
        missing = self._no_evidence(run)
        ends = None if missing else self.maps.ends(run)
        return MethodAnswer(row=run.row, answer=found, no_evidence=missing, evidence_range=ends)

    def _surroundings(self, part: str, item: int, wanted: Filter) -> Surroundings:
        samples, places = self._chosen(wanted)
        own = samples.parts.index(part) if part in samples.parts else -1
        found = np.flatnonzero((samples.item[places] == item) & (samples.part[places] == own))
        if not len(found):
            return Surroundings(position=None, total=len(places), previous=None, next=None)
        here = int(found[0])

        def at(position: int) -> Neighbour | None:
            if not 0 <= position < len(places):
                return None
            index = int(places[position])
            return Neighbour(part=samples.part_of(index), item=int(samples.item[index]))

        return Surroundings(position=here + 1, total=len(places), previous=at(here - 1), next=at(here + 1))

    def _where(self, said: Said, place: int) -> int | None:
        return self.source.place(*said.known_by(place))

    def _no_evidence(self, run: Run) -> str:
        return self.maps.missing(run) if self.kind == "pictures" else "There are no images."
