"""Everything under inspection, opened lazily: what needs torch loads on first use."""

import contextlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, final

from fastapi import Query

from onepeak._core.files import expanded
from onepeak._core.wording import counted
from onepeak.errors import InputError, OnepeakError
from onepeak.report.palette import Style, styles
from onepeak.serving.actions import Unsure, read_actions
from onepeak.serving.inspector.notes import SampleNotes
from onepeak.serving.inspector.runs import Course, FinishedRun, Overview, curves, find_runs, overview

if TYPE_CHECKING:
    from onepeak.data.manifest import Manifest
    from onepeak.report.findings import Finding
    from onepeak.report.source import Source
    from onepeak.serving.inspector.posteriors import Posteriors
    from onepeak.serving.inspector.samples import RunPredictions
    from onepeak.serving.model import Model


@final
class Inspection:
    """The runs of a folder, at least one and all on one data set; their data, and everything derived from them.

    `source` is the data if it is open already, and `given` are predictions that are not on disk, by row and part.
    """

    def __init__(
        self,
        folder: Path,
        runs: Sequence[FinishedRun],
        classes: Sequence[str],
        *,
        failed: Sequence[str] = (),
        notes: Sequence[str] = (),
        warnings: Sequence[str] = (),
        config: Mapping[str, Any] | None = None,
        actions: Sequence[str] = (),
        unsure: Unsure = "highest",
        source: "Source | None" = None,
        given: "Mapping[tuple[str, str], RunPredictions] | None" = None,
    ) -> None:
        self.folder = folder
        self.runs = tuple(runs)
        self.classes = tuple(classes)
        self.failed = tuple(failed)
        self.notes = tuple(notes)
        self.warnings = tuple(warnings)
        self.config = config
        self.actions = tuple(actions)
        self.unsure: Unsure = unsure
        self._source = source
        self._given = given or {}
        self.notes_of_samples = SampleNotes(folder)
        self._posteriors: Posteriors | None = None
        self._lock = threading.Lock()
        self._loading = threading.Lock()  # one thread loads torch while the others wait

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self.runs[0].dataset

    @property
    def asked_now(self) -> bool:
        """Whether a model was run now, rather than runs read from disk."""
        return bool(self._given)

    @property
    def has_map(self) -> bool:
        """Whether there may be a map: a model that was run now may know nothing of its training samples."""
        given = [each.predictions.coordinates for each in self._given.values()]
        return not given or any(each is not None for each in given)

    @cached_property
    def looks(self) -> dict[str, Style]:
        """The style of each row, in the order of the table."""
        return styles({run.row: run.method for run in self.runs})

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Every split and fold, in order."""
        runs = sorted(self.runs, key=lambda run: (run.split, run.fold))
        return tuple(dict.fromkeys(run.part for run in runs))

    @cached_property
    def overview(self) -> Overview:
        """The content of the first page."""
        return overview(self.runs, self.looks, num_classes=len(self.classes))

    @cached_property
    def curves(self) -> dict[str, dict[str, Course]]:
        """The learning curves, by metric and row."""
        return curves(self.runs)

    @property
    def posteriors(self) -> "Posteriors":
        """The data of the other pages; the first access waits while torch is loaded and the data is opened."""
        with self._lock:
            if self._posteriors is None:
                with self._loading:
                    from onepeak.report.source import open_source
                    from onepeak.serving.inspector.posteriors import Posteriors

                source = open_source(self.config, self.dataset) if self._source is None else self._source
                self._posteriors = Posteriors(
                    self.runs, self.classes, source, self._given, self.notes_of_samples, self.actions, self.unsure
                )
            return self._posteriors

    def prepare(self) -> None:
        """Opens what the other pages need ahead of time; errors are reported to whoever asks for them."""
        with contextlib.suppress(OnepeakError):
            self.posteriors.page(Filter(method=next(iter(self.looks))), 1)

    @cached_property
    def findings(self) -> "tuple[Finding, ...]":
        """The findings of all runs together; empty if the runs cannot be read as a report."""
        if self.asked_now:
            return ()
        with self._loading:
            from onepeak.experiment.results import read_results
            from onepeak.report.findings import findings
            from onepeak.report.summary import summary

        try:
            runs = read_results(self.folder)
            table = summary(runs, metrics=("mae", "soi_predicted"))
            return findings(runs, table, paradoxical={}, variation={})
        except OnepeakError:
            return ()


def open_inspection(
    folder: Path, *, root: str | None = None, actions: Path | None = None, unsure: Unsure = "highest"
) -> Inspection:
    """Opens the `--out` folder of `onepeak compare` or `onepeak train`; `root` is where moved data is now."""
    folder = expanded(folder)
    found = find_runs(folder)
    if root is not None and found.config is None:
        raise InputError(
            "`root` has no effect for a single run.", argument="root", fix="Give `data` to run the model on that data."
        )
    return Inspection(
        folder,
        found.runs,
        found.classes,
        failed=found.failed,
        config=found.config if root is None else {**(found.config or {}), "root": root},
        actions=read_actions(actions, found.classes),
        unsure=unsure,
    )


def inspect_model(
    model: "Model", folder: Path, data: "Manifest", *, actions: Path | None = None, unsure: Unsure = "highest"
) -> Inspection:
    """Runs a model on data, and opens its predictions; unreadable images are left out, and counted in the notes."""
    from onepeak.data.manifest import ImageFiles
    from onepeak.report.source import Source
    from onepeak.serving.evaluation import evaluate
    from onepeak.serving.evaluation_data import with_classes_of
    from onepeak.serving.inspector.samples import RunPredictions

    measured = evaluate(model, data, skip_bad=True)
    data, _ = with_classes_of(model, data)
    method, found = model.description.method, measured.prediction
    run = FinishedRun(
        row=method, method=method, dataset=data.name, split=0, fold=0, folder=folder, metrics=measured.metrics
    )
    notes = measured.notes
    warnings: tuple[str, ...] = ()
    if measured.failed:
        notes = (*notes, f"Left out, as not readable: {counted(len(measured.failed), 'image')}.")
    if measured.num_trained_on:
        seen = f"{measured.num_trained_on:,} of these {counted(len(measured.labels), 'sample')}"
        warnings = (f"The model was trained on {seen}: the figures do not measure how well it does on new data.",)
    # each prediction has the position of its sample in the data
    paths = tuple(data.items.paths[item] for item in found.items) if isinstance(data.items, ImageFiles) else ()
    given = RunPredictions(
        predictions=replace(found, sources=paths, log_probs=found.log_probs.float()),
        trained_on=measured.trained_on,
        calibrated=True,
    )
    return Inspection(
        folder,
        [run],
        model.classes,
        notes=notes,
        warnings=warnings,
        actions=read_actions(actions, model.classes),
        unsure=unsure,
        source=Source(manifest=data, bits=model.description.bits),
        given={(run.row, run.part): given},
    )


Sort: TypeAlias = Literal["item", "error", "disorder", "order", "unsure", "sure", "distance"]

SORTS: dict[Sort, str] = {
    "item": "Order of the data",
    "error": "Largest error first",
    "disorder": "Lowest SOI first",
    "order": "Highest SOI first",
    "unsure": "Least sure first",
    "sure": "Most sure first",
    "distance": "Farthest from the training first",
}
"""The sort orders, as the page names them."""


Text = Annotated[str, Query(max_length=200)]


@dataclass(frozen=True, kw_only=True)
class Filter:
    """A filter, as an address asks for it; defaults do not restrict."""

    method: str = ""
    """A row of the overview table; the address may leave out the first."""
    part: str | None = None
    """A split and fold, as `FinishedRun.part` writes them."""
    truth: int | None = None
    """The true class."""
    predicted: int | None = None
    min_error: Annotated[int, Query(ge=0, alias="error")] = 0
    """In classes."""
    soi_below: Annotated[float | None, Query(ge=0, le=1.01, alias="soi")] = None
    paradoxical: bool = False
    """Only samples whose second most probable class is not adjacent to the first."""
    search: Text = ""
    """A part of the sample's name, case-insensitive."""
    group: Text = ""
    """The whole name of a group, such as a patient."""
    min_width: Annotated[int, Query(ge=0, alias="width")] = 0
    """Of the interval, in classes."""
    min_distance: Annotated[float, Query(ge=0, le=1e6, alias="distance")] = 0.0
    """From the training samples, usually within 1."""
    doubtful: bool = False
    """Only samples whose label is likely wrong."""
    twins: bool = False
    """Only samples that nearly coincide with another one of their part."""
    flagged: bool = False
    """Only samples that the user has flagged."""
    other: str | None = None
    """Another row, to compare with."""
    beaten: bool = False
    """Only samples on which the other row is right and this one wrong."""
    differ: Annotated[int, Query(ge=0)] = 0
    """At least so many classes between the predictions of the two rows."""
    sort: Sort = "item"
