"""What each page is given. The pages themselves are in `templates/`; their figures come as JSON when they are open."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, TypeAlias

import jinja2

from onepeak._listing import counted
from onepeak._version import __version__
from onepeak.report.palette import Style
from onepeak.serving.inspector.filters import SORTS
from onepeak.serving.inspector.inspection import Inspection


@dataclass(frozen=True, kw_only=True)
class Shell:
    """What is around every page."""

    title: str
    """The data set."""
    subtitle: str
    """What was compared, in a line."""
    version: str
    places: Mapping[str, str]
    """Where the pages are, by their titles."""


@dataclass(frozen=True, kw_only=True)
class OverviewPage:
    """Methods as a table, error against order, learning curves."""

    template: ClassVar[str] = "overview.html"
    shell: Shell
    measured: str
    """What the figures are, in a sentence."""
    one_run: bool
    """Whether there is but one point to draw of error against order."""
    failed: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    """Why the figures are no measure."""


@dataclass(frozen=True, kw_only=True)
class SamplesPage:
    """The grid of samples with its filters."""

    template: ClassVar[str] = "samples.html"
    shell: Shell
    rows: tuple[str, ...]
    parts: Mapping[str, str]
    """Splits and folds, with their names in words."""
    classes: tuple[str, ...]
    sorts: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class SamplePage:
    """One sample, all methods side by side."""

    template: ClassVar[str] = "sample.html"
    shell: Shell
    part: str
    item: int
    has_actions: bool


@dataclass(frozen=True, kw_only=True)
class LabelsPage:
    """All posteriors with one predicted label."""

    template: ClassVar[str] = "labels.html"
    shell: Shell
    parts: Mapping[str, str]
    classes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TryPage:
    """An image or a row of the user's own."""

    template: ClassVar[str] = "try.html"
    shell: Shell
    columns: Mapping[str, tuple[str, ...]]
    """Of a table, with the names of categories; none for a model of images."""


PLACES = {"Overview": "/", "Samples": "/samples", "Labels": "/labels"}
TRY_PLACE = {"Try it": "/try"}

AnyPage: TypeAlias = OverviewPage | SamplesPage | SamplePage | LabelsPage | TryPage


@dataclass(frozen=True, kw_only=True)
class About:
    """What every script needs to know, as JSON."""

    classes: tuple[str, ...]
    looks: Mapping[str, Style]
    parts: Mapping[str, str]
    actions: tuple[str, ...]


def render(page: AnyPage) -> str:
    """The HTML of a page."""
    return _environment().get_template(page.template).render(page=page)


def shell(inspection: Inspection, *, can_try: bool) -> Shell:
    """What is around every page of an inspection.

    Args:
        inspection: What is shown.
        can_try: Whether there is a model to ask.
    """
    parts, rows, runs = len(inspection.parts), len(inspection.looks), len(inspection.runs)
    words = [counted(len(inspection.classes), "class"), counted(rows, "method")]
    words += [counted(parts, "split"), counted(runs, "run")] if runs > 1 else []
    return Shell(
        title=inspection.dataset,
        subtitle=", ".join(words),
        version=__version__,
        places=PLACES | (TRY_PLACE if can_try else {}),
    )


def overview_page(inspection: Inspection, around: Shell) -> OverviewPage:
    """The first page of an inspection."""
    if inspection.asked_now:
        measured = "On all of the data that the model was asked about."
    elif len(inspection.runs) > len(inspection.looks):
        measured = "Mean ± standard deviation over runs, on the test parts."
    else:
        measured = "On the test part of one run each."
    return OverviewPage(
        shell=around,
        measured=measured,
        one_run=len(inspection.runs) == 1,
        failed=inspection.failed,
        notes=inspection.notes,
        warnings=inspection.warnings,
    )


def samples_page(inspection: Inspection, around: Shell) -> SamplesPage:
    """The grid of an inspection."""
    return SamplesPage(
        shell=around,
        rows=tuple(inspection.looks),
        parts=part_names(inspection.parts),
        classes=inspection.classes,
        sorts={str(name): title for name, title in SORTS.items()},
    )


def part_names(parts: tuple[str, ...]) -> dict[str, str]:
    """Splits and folds in words.

    Example:
        >>> part_names(("0-0", "1-0")), part_names(("0-0", "0-1"))
        ({'0-0': 'split 0', '1-0': 'split 1'}, {'0-0': 'split 0, fold 0', '0-1': 'split 0, fold 1'})
    """
    folds = any(part.partition("-")[2] != "0" for part in parts)
    named = {part: part.partition("-") for part in parts}
    return {
        part: f"split {split}, fold {fold}" if folds else f"split {split}" for part, (split, _, fold) in named.items()
    }


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("onepeak.serving.inspector", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
