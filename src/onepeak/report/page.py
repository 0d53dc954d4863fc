"""The page: one HTML file that carries all it needs and asks nobody for anything."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onepeak._core.imports import require
from onepeak._core.wording import counted, counted_splits
from onepeak.experiment.run_files import FailedRun
from onepeak.report.figures.canvas import Looks
from onepeak.report.method_tables import WideTable
from onepeak.report.provenance import Provenance
from onepeak.report.run_data import RunData
from onepeak.report.sections import Section
from onepeak.report.summary import TABLE_METRICS, TableMetric
from onepeak.training.run import versions


@dataclass(frozen=True, kw_only=True)
class BlockText:
    """All about one data set, as the page holds it."""

    id: str
    title: str
    subtitle: str
    findings: tuple[str, ...]
    tables: tuple[WideTable, ...]
    """The first is shown, the others open on demand."""
    paper: tuple[WideTable, ...]
    """Beside the paper's figures, where there are some."""
    looks: Looks
    failed: tuple[FailedRun, ...]
    notes: tuple[str, ...]
    sections: tuple[tuple[Section, str], ...]
    """Each with the address of its figure for print, beside the page."""
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class PageText:
    """All that the template is given."""

    title: str
    subtitle: str
    version: str
    metrics: tuple[TableMetric, ...]
    blocks: tuple[BlockText, ...]
    diagrams: tuple[str, ...]
    """Addresses of the diagrams of ranks, beside the page."""
    plotly_js: str


def page_html(blocks: Sequence[BlockText], *, metrics: Iterable[str], diagrams: Sequence[str] = ()) -> str:
    """The whole page."""
    jinja2 = require("jinja2", extra="report", purpose="The report's page")
    offline = require("plotly.offline", extra="report", purpose="The report's page")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("onepeak.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    one = len(blocks) == 1
    page = PageText(
        title=blocks[0].title if one else f"{len(blocks)} data sets",
        subtitle=blocks[0].subtitle if one else ", ".join(block.title for block in blocks),
        version=versions().get("onepeak", ""),
        metrics=tuple(TABLE_METRICS[name] for name in dict.fromkeys(metrics)),
        blocks=tuple(blocks),
        diagrams=tuple(diagrams),
        plotly_js=offline.get_plotlyjs(),
    )
    text: str = environment.get_template("report.html").render(page=page)
    return text


def subtitle(data: RunData) -> str:
    """What was compared, in a line."""
    runs = data.runs
    rows, splits = len(data.looks), counted_splits(list(zip(runs["split"], runs["fold"], strict=True)))
    classes = f"{len(data.classes)} classes, " if data.classes else ""
    return f"{classes}{counted(rows, 'method')} on {splits}, {counted(len(runs), 'run')}"
