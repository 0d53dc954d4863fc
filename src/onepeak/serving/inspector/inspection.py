"""Everything that is inspected, as light as can be: what needs torch is opened when it is first asked for."""

import contextlib
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from onepeak._home import expanded
from onepeak.errors import InputError, OnepeakError
from onepeak.report.palette import Style, styles
from onepeak.serving.actions import read_actions
from onepeak.serving.inspector.filters import Filter
from onepeak.serving.inspector.overview import Course, Overview, curves, overview
from onepeak.serving.inspector.runs import Run, find_runs

if TYPE_CHECKING:
    from onepeak.report.source import Source
    from onepeak.serving.inspector.posteriors import Posteriors
    from onepeak.serving.inspector.said import Said


@final
class Inspection:
    """The runs, their data, and what follows from them.

    Args:
        folder: What was opened.
        runs: At least one, all on one data set.
        classes: The classes in their order.
        failed: Sentences on runs that failed.
        notes: What else the user should know.
        warnings: Why the figures are no measure.
        config: The settings of the experiment, which say where the data lie.
        actions: What to do for each class; none where not given.
        source: The data, where they are open already.
        given: What runs said, where it lies on no disk: by row and part.
    """

    def __init__(
        self,
        folder: Path,
        runs: Sequence[Run],
        classes: Sequence[str],
        *,
        failed: Sequence[str] = (),
        notes: Sequence[str] = (),
        warnings: Sequence[str] = (),
        config: Mapping[str, Any] | None = None,
        actions: Sequence[str] = (),
        source: "Source | None" = None,
        given: "Mapping[tuple[str, str], Said] | None" = None,
    ) -> None:
        self.folder = folder
        self.runs = tuple(runs)
        self.classes = tuple(classes)
        self.failed = tuple(failed)
        self.notes = tuple(notes)
        self.warnings = tuple(warnings)
        self.config = config
        self.actions = tuple(actions)
        self._source = source
        self._given = given or {}
        self._posteriors: Posteriors | None = None
        self._lock = threading.Lock()
        self._loading = threading.Lock()  # one thread loads torch, and the others wait for it

    @property
    def dataset(self) -> str:
        """The name of the data."""
        return self.runs[0].dataset

    @property
    def asked_now(self) -> bool:
        """Whether a model was asked, rather than runs read from disk."""
        return bool(self._given)

    @cached_property
    def looks(self) -> dict[str, Style]:
        """The look of each row, in the order of the table."""
        return styles({run.row: run.method for run in self.runs})

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Every split and fold, in order."""
        runs = sorted(self.runs, key=lambda run: (run.split, run.fold))
        return tuple(dict.fromkeys(run.part for run in runs))

    @cached_property
    def overview(self) -> Overview:
        """What the first page shows."""
        return overview(self.runs, self.looks, num_classes=len(self.classes))

    @cached_property
    def curves(self) -> dict[str, dict[str, Course]]:
        """The learning curves, by metric and row."""
        return curves(self.runs)

    @property
    def posteriors(self) -> "Posteriors":
        """What the other pages ask; the first to ask waits while torch is loaded and the data are opened."""
        with self._lock:
            if self._posteriors is None:
                with self._loading:
                    from onepeak.report.source import open_source
                    from onepeak.serving.inspector.posteriors import Posteriors

                source = open_source(self.config, self.dataset) if self._source is None else self._source
                self._posteriors = Posteriors(self.runs, self.classes, source, self._given)
            return self._posteriors

    def prepare(self) -> None:
        """Opens what the other pages need before somebody waits for it; what is wrong with it is told to who asks."""
        with contextlib.suppress(OnepeakError):
            self.posteriors.page(Filter(method=next(iter(self.looks))), 1)

    @cached_property
    def findings(self) -> tuple[str, ...]:
        """What the runs say together, in sentences; none where they cannot be read as a report reads them."""
        if self.asked_now:
            return ()
        with self._loading:
            from onepeak.experiment.records import read_results
            from onepeak.report.findings import findings
            from onepeak.report.summary import summary

        try:
            runs = read_results(self.folder)
            return findings(runs, summary(runs, metrics=("mae", "soi_predicted")), paradoxical={}, variation={})
        except OnepeakError:
            return ()


def open_inspection(folder: Path, *, root: str | None = None, actions: Path | None = None) -> Inspection:
    """Opens the folder of a comparison or of one run.

    Args:
        folder: What `onepeak compare` or `onepeak train` wrote to.
        root: Where the data lie now, if they were moved.
        actions: A CSV with what to do for each class.
    """
    folder = expanded(folder)
    found = find_runs(folder)
    if root is not None and found.config is None:
        raise InputError("`root` (--root) has no use for a single run: give --data, and what lies there is asked anew.")
    return Inspection(
        folder,
        found.runs,
        found.classes,
        failed=found.failed,
        config=found.config if root is None else {**(found.config or {}), "root": root},
        actions=read_actions(actions, found.classes),
    )
