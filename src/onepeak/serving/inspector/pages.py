"""The data of each page. The pages are in `templates/`; their figures are fetched as JSON once they are open."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import jinja2

from onepeak._core.imports import require
from onepeak._core.wording import counted, counted_splits
from onepeak._version import __version__
from onepeak.serving.inspector.inspection import SORTS, Inspection

if TYPE_CHECKING:
    from onepeak.serving.model import Model


@dataclass(frozen=True, kw_only=True)
class Shell:
    """The frame around every page."""

    title: str
    """The data set."""
    subtitle: str
    """What was compared, in one line."""
    version: str
    places: Mapping[str, str]
    """The addresses of the pages, by title."""


@dataclass(frozen=True, kw_only=True)
class OverviewPage:
    """Table of methods, error against consistency, learning curves."""

    template: ClassVar[str] = "overview.html"
    shell: Shell
    measured: str
    """What the figures measure, in a sentence."""
    one_run: bool
    """Whether error against consistency has only one point."""
    failed: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    """Why the figures are not a fair measure."""


@dataclass(frozen=True, kw_only=True)
class ChoicePage:
    """Samples by a choice of method, split and class: their grid, their map, their confusion, their posteriors."""

    template: str
    shell: Shell
    rows: tuple[str, ...]
    parts: Mapping[str, str]
    """Splits and folds, with readable names."""
    classes: tuple[str, ...]
    measured: str
    """The samples that figures are of, such as "all test samples"."""
    warnings: tuple[str, ...]
    """Why the figures are not a fair measure."""
    sorts: Mapping[str, str] = field(default_factory=lambda: {str(name): title for name, title in SORTS.items()})


@dataclass(frozen=True, kw_only=True)
class SamplePage:
    """One sample, all methods side by side."""

    template: ClassVar[str] = "sample.html"
    shell: Shell
    part: str
    item: int
    has_actions: bool


@dataclass(frozen=True, kw_only=True)
class TryPage:
    """An image or row that the user enters."""

    template: ClassVar[str] = "try.html"
    shell: Shell
    columns: Mapping[str, tuple[str, ...] | None]
    """The columns of a table model, with the names of categories, None for a text; empty for an image model."""
    card: str
    """The model's card as HTML; empty if it has none."""


CHOICES = ("samples", "map", "confusion", "labels")
"""The pages of samples, by address and template."""
PLACES = {"Overview": "/", **{name.capitalize(): f"/{name}" for name in CHOICES}}
TRY_PLACE = {"Try it": "/try"}

AnyPage: TypeAlias = OverviewPage | ChoicePage | SamplePage | TryPage


def render(page: AnyPage) -> str:
    """Returns the HTML of a page."""
    return _environment().get_template(page.template).render(page=page)


def shell(inspection: Inspection, *, can_try: bool) -> Shell:
    """Returns the frame around every page of an inspection, with a page to try a model if there is one."""
    rows, runs = len(inspection.looks), len(inspection.runs)
    words = [counted(len(inspection.classes), "class"), counted(rows, "method")]
    words += (
        [counted_splits([(run.split, run.fold) for run in inspection.runs]), counted(runs, "run")] if runs > 1 else []
    )
    places = PLACES | (TRY_PLACE if can_try else {})
    if not inspection.has_map:
        places = {title: address for title, address in places.items() if address != "/map"}
    return Shell(
        title=inspection.dataset,
        subtitle=", ".join(words),
        version=__version__,
        places=places,
    )


def overview_page(inspection: Inspection, around: Shell) -> OverviewPage:
    """Returns the first page of an inspection."""
    if inspection.asked_now:
        measured = "On all of the data that the model was run on."
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


def choice_page(name: str, inspection: Inspection, around: Shell) -> ChoicePage:
    """Returns one of the pages in `CHOICES`."""
    return ChoicePage(
        template=f"{name}.html",
        shell=around,
        rows=tuple(inspection.looks),
        parts=part_names(inspection.parts),
        classes=inspection.classes,
        measured="all samples given" if inspection.asked_now else "all test samples",
        warnings=inspection.warnings,
    )


def part_names(parts: tuple[str, ...]) -> dict[str, str]:
    """Returns readable names of splits and folds.

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


def model_columns(model: "Model") -> dict[str, tuple[str, ...] | None]:
    """Returns the columns of a table model, with the names of categories, None for a text; empty for an image model."""
    table = model.description.table
    if table is None:
        return {}
    known = {name: table.categories.get(name, ()) for name in table.given_columns}
    return {name: None if name in table.named_columns and not names else names for name, names in known.items()}


def model_card(folder: Path) -> str:
    """Returns the README.md of a model's folder as HTML, in which its own HTML is text; empty if there is none."""
    path = folder / "README.md"
    if not path.is_file():
        return ""
    markdown = require("markdown_it", extra="serve", purpose="A model's card")
    text = path.read_text(encoding="utf-8", errors="replace")
    if text.startswith("---\n"):  # a header for model hubs
        text = text.partition("\n---\n")[2]
    html: str = markdown.MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return html
