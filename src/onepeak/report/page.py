"""The page: one HTML file that carries all it needs and asks nobody for anything."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onepeak._extras import require
from onepeak.data.listing import counted
from onepeak.experiment.records import FailedRun
from onepeak.metrics.record import MetricRecord
from onepeak.report.evidence import Evidence
from onepeak.report.figures.canvas import Looks
from onepeak.report.made import Made
from onepeak.report.measured import MEASURED
from onepeak.report.section import Card, Chart, Choice, Layout, Section
from onepeak.report.wide import WideTable
from onepeak.training.run import versions


@dataclass(frozen=True, kw_only=True)
class ChartText:
    """An interactive figure as the page holds it."""

    id: str
    name: str
    says: str
    """For those who do not see it."""
    height: int
    json: str


@dataclass(frozen=True, kw_only=True)
class CardText:
    """A card as the page holds it."""

    text: str
    name: str
    picture: str | None
    features: str
    chart: ChartText


@dataclass(frozen=True, kw_only=True)
class SectionText:
    """A section as the page holds it."""

    id: str
    title: str
    text: str
    layout: Layout
    charts: tuple[ChartText, ...]
    cards: tuple[CardText, ...]
    choice: Choice | None
    table: WideTable | None
    print: str
    """The address of the figure for print, beside the page."""


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
    failed_title: str
    failed: tuple[FailedRun, ...]
    notes: tuple[str, ...]
    sections: tuple[SectionText, ...]
    made: Made


@dataclass(frozen=True, kw_only=True)
class PageText:
    """All that the template is given."""

    title: str
    subtitle: str
    version: str
    metrics: tuple[MetricRecord, ...]
    blocks: tuple[BlockText, ...]
    diagrams: tuple[str, ...]
    """Addresses of the diagrams of ranks, beside the page."""
    plotly_js: str


def page_html(blocks: Sequence[BlockText], *, metrics: Iterable[str], diagrams: Sequence[str] = ()) -> str:
    """The whole page.

    Args:
        blocks: One a data set.
        metrics: Those that were measured, to be explained.
        diagrams: Addresses of the diagrams of ranks.
    """
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
        metrics=tuple(MEASURED[name] for name in dict.fromkeys(metrics)),
        blocks=tuple(blocks),
        diagrams=tuple(diagrams),
        plotly_js=offline.get_plotlyjs(),
    )
    text: str = environment.get_template("report.html").render(page=page)
    return text


def subtitle(evidence: Evidence) -> str:
    """What was compared, in a line."""
    runs = evidence.runs
    rows, splits = len(evidence.looks), len(set(zip(runs["split"], runs["fold"], strict=True)))
    classes = f"{len(evidence.classes)} classes, " if evidence.classes else ""
    return f"{classes}{counted(rows, 'method')} on {counted(splits, 'split')}, {counted(len(runs), 'run')}"


def section_text(section: Section, *, block: str, address: str) -> SectionText:
    """A section as the page holds it.

    Args:
        section: The section.
        block: The id of its block, so that ids are unique.
        address: Of its figure for print.
    """
    own = f"{block}-{section.name}"
    cards = enumerate(section.cards)
    return SectionText(
        id=own,
        title=section.title,
        text=section.text,
        layout=section.layout,
        charts=tuple(_chart(each, f"{own}-{place}", section.title) for place, each in enumerate(section.charts)),
        cards=tuple(_card(each, f"{own}-case{place}", section.title) for place, each in cards),
        choice=section.choice,
        table=section.table,
        print=address,
    )


def _card(card: Card, own: str, title: str) -> CardText:
    return CardText(
        text=card.text,
        name=card.name,
        picture=card.picture,
        features=card.features,
        chart=_chart(card.chart, own, f"{title}: {card.text}"),
    )


def _chart(chart: Chart, own: str, title: str) -> ChartText:
    # Inside a script element only "<" could end it early.
    text = chart.figure.to_json().replace("<", "\\u003c")
    return ChartText(
        id=own,
        name=chart.name,
        says=f"{title}: {chart.name}" if chart.name else title,
        height=int(chart.figure.layout.height),
        json=text,
    )
