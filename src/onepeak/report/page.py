"""The page: one HTML file that carries all it needs and asks nobody for anything."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onepeak._core.imports import Frame, require
from onepeak._core.wording import counted, counted_splits, duration, listed
from onepeak.experiment.run_files import CONFIG, RECORD, DataCounts, FailedRun, RunResult, read_run
from onepeak.report.figures.canvas import Looks
from onepeak.report.findings import Finding
from onepeak.report.method_tables import WideTable
from onepeak.report.run_data import RunData
from onepeak.report.sections import Section
from onepeak.report.summary import TABLE_METRICS, TableMetric
from onepeak.training.out_folder import RESULT
from onepeak.training.run import versions


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What the last lines of a report say."""

    commands: tuple[str, ...]
    """What was typed, each once; none where it was not written down."""
    config: str
    """The text of the experiment's settings; empty where there are none."""
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BlockText:
    """All about one data set, as the page holds it."""

    id: str
    title: str
    subtitle: str
    findings: tuple[Finding, ...]
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


def read_provenance(folder: Path, config: Mapping[str, Any] | None, runs: Frame) -> Provenance:
    """Reads it from the folder and from its first run."""
    first = read_run(Path(runs["folder"].iloc[0]) / RESULT)
    record: Mapping[str, Any] = {} if config is None else config.get(RECORD, {})
    seconds = float(runs["seconds"].sum())
    facts = {
        "runs": f"{len(runs):,}, seeds {listed(sorted(set(runs['seed'])))}",
        "data": _data(first, record),
        "protocol": listed(dict.fromkeys(runs["protocol"])),
        "samples": f"{first.sizes['train']:,} train, {first.sizes['valid']:,} validation, "
        f"{first.sizes['test']:,} test (first run)",
        "epoch": _choice_of_epoch(first.selected_by or "metric", runs),
        "time": f"{duration(seconds)} of training, {duration(seconds / len(runs))} per run",
        "machine": f"{first.device or 'not recorded'}, precision {first.precision or 'not recorded'}",
        "versions": ", ".join(f"{name} {version}" for name, version in first.versions.items()),
    }
    return Provenance(
        commands=tuple(record.get("commands", ())),
        config=(folder / CONFIG).read_text(encoding="utf-8") if config is not None else "",
        facts={name: text for name, text in facts.items() if text},
    )


def _data(first: RunResult, record: Mapping[str, Any]) -> str:
    """How many items and groups there are, and how many were left out; what older records do not know is not said."""
    data = first.data or DataCounts(items=record.get("items") if record.get("dataset") == first.dataset else None)
    if data.items is None:
        return ""
    text = counted(data.items, "sample")
    if data.groups is not None:
        text += f" of {counted(data.groups, 'group')}" + (f" (column {data.group_column})" if data.group_column else "")
    if data.left_out:
        text += f"; {counted(data.left_out, 'sample')} left out by --skip-bad"
    return text


def _choice_of_epoch(by: str, runs: Frame) -> str:
    epochs = int(runs["epochs"].max())
    if by == "last":
        return f"the last of {epochs}"
    stopped = int((runs["epochs"] < runs["most_epochs"]).sum())
    text = f"chosen by validation {by}, of "
    if not stopped:
        return f"{text}{epochs}"
    return f"{text}at most {int(runs['most_epochs'].max())}; {stopped} of {counted(len(runs), 'run')} stopped early"
