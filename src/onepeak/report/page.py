"""Writes the report of one or more folders of runs: tables, figures for print, and one page that needs no network."""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onepeak._core.files import write_text_in_one_step
from onepeak._core.imports import Frame, require
from onepeak._core.wording import counted, counted_splits, duration, listed
from onepeak.errors import InputError
from onepeak.experiment.results import read_results
from onepeak.experiment.run_files import (
    CONFIG,
    RECORD,
    DataCounts,
    FailedRun,
    RunResult,
    failed_runs,
    read_config,
    read_run,
    recorded_classes,
)
from onepeak.report.figures.canvas import Looks, save
from onepeak.report.findings import Finding, findings
from onepeak.report.run_data import MOST_NUMBERS, RunData, gather
from onepeak.report.sections import Section, sections
from onepeak.report.source import open_source
from onepeak.report.summary import TABLE_METRICS, blocks, check_rows, summary
from onepeak.report.tables import WideTable, wide_tables, write_summary
from onepeak.training.out_folder import RESULT
from onepeak.training.run import versions


@dataclass(frozen=True, kw_only=True)
class BlockText:
    """All about one data set, as the page holds it."""

    id: str
    title: str
    subtitle: str
    findings: tuple[Finding, ...]
    tables: tuple[WideTable, ...]
    """The first is shown, the others open on demand; those beside the paper's figures are shown too."""
    looks: Looks
    failed: tuple[FailedRun, ...]
    notes: tuple[str, ...]
    sections: tuple[tuple[Section, str], ...]
    """Each with the address of its figure for print, beside the page."""
    commands: tuple[str, ...] = ()
    """What was typed, each once; none where it was not written down."""
    config: str = ""
    """The text of the experiment's settings; empty where there are none."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Where the figures come from."""


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
    text: str = environment.get_template("report.html").render(
        title=blocks[0].title if one else f"{len(blocks)} data sets",
        subtitle=blocks[0].subtitle if one else ", ".join(block.title for block in blocks),
        version=versions().get("onepeak", ""),
        metrics=[TABLE_METRICS[name] for name in dict.fromkeys(metrics)],
        blocks=blocks,
        diagrams=diagrams,
        plotly_js=offline.get_plotlyjs(),
    )
    return text


def subtitle(data: RunData) -> str:
    """What was compared, in a line."""
    runs = data.runs
    rows, splits = len(data.looks), counted_splits(list(zip(runs["split"], runs["fold"], strict=True)))
    classes = f"{len(data.classes)} classes, " if data.classes else ""
    return f"{classes}{counted(rows, 'method')} on {splits}, {counted(len(runs), 'run')}"


def read_provenance(folder: Path, runs: Frame) -> dict[str, Any]:
    """Reads `BlockText.commands`, `config` and `facts`: where the figures come from, by a folder and its first run."""
    config = read_config(folder)
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
    return {
        "commands": tuple(record.get("commands", ())),
        "config": "" if config is None else (folder / CONFIG).read_text(encoding="utf-8"),
        "facts": {name: text for name, text in facts.items() if text},
    }


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


PAGE = "report.html"
FIGURES = "figures"


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was written, and what it says."""

    page: Path
    """`report.html`, which opens without a network."""
    tables: tuple[Path, ...]
    figures: tuple[Path, ...]
    """For print: PNG and PDF."""
    findings: dict[str, tuple[Finding, ...]]
    """By data set."""


def write_report(
    *folders: str | Path,
    out: str | Path | None = None,
    against: str | None = None,
    alone: str | None = None,
    on_run: Callable[[int, int], None] = lambda *_: None,
) -> Report:
    """Writes `table.csv`, `table.md`, `table.tex`, `figures/*.png` and `*.pdf`, and `report.html`.

    The same runs give the same bytes. Runs that failed or go on still are passed over; the page names the failed ones.

    Args:
        folders: What `onepeak compare` or `onepeak train` wrote to.
        out: Where to; the folder itself if left out, which needs it to be one.
        against: The row that the others are tested against; the best one of each metric if left out.
        alone: The row whose MAE is compared with that of `against` (CE if left out) in one test by itself, in place of
            ELB's with CE's. Name it before you look: picked from results, its p-value would be too small.
        on_run: Called after each run that was read, with how many are read and how many there are.

    Example:
        >>> write_report("nowhere")
        Traceback (most recent call last):
        onepeak.errors.InputError: `nowhere` must be a folder that onepeak compare or train wrote, got no folder.
    """
    if out is None and len(folders) > 1:
        raise InputError(f"`out` must be given for a report of {len(folders)} folders.", argument="out")
    results = read_results(*folders)
    folder = Path(folders[0] if out is None else out)
    whole = summary(results, against=against)
    for title, runs in blocks(results):
        check_rows(dict.fromkeys(runs["label"]), against=against, alone=alone, of=f" of {title}")
    paths = write_summary(results, whole, folder)
    for module in ("matplotlib", "plotly", "jinja2"):  # before figures are drawn for a page that cannot be
        require(module, extra="report", purpose="The report's page")
    done = iter(range(1, len(results) + 1))
    found = list(_read_blocks(results, whole, lambda: on_run(next(done), len(results))))
    figures: list[Path] = []
    texts = [_block_text(*block, folder, single=len(found) == 1, alone=alone, figures=figures) for block in found]
    diagrams = [path.name for path in paths.diagrams if path.suffix == ".png"]
    html = page_html(texts, metrics=whole["metric"], diagrams=diagrams)
    write_text_in_one_step(folder / PAGE, html)
    return Report(
        page=folder / PAGE,
        tables=(paths.csv, paths.markdown, paths.latex),
        figures=(*paths.diagrams, *figures),
        findings={text.title: text.findings for text in texts},
    )


def _read_blocks(results: Frame, whole: Frame, on_run: Callable[[], None]) -> Iterator[tuple[str, Path, RunData]]:
    """Every data set of every folder, with a name for addresses and files, and its folder."""
    parts = list(blocks(results))
    taken: set[str] = set()
    for title, runs in parts:
        folder = Path(runs["experiment"].iloc[0])
        config = read_config(folder)
        data = gather(
            title,
            runs,
            whole[whole["dataset"] == title],
            open_source(config, str(runs["dataset"].iloc[0])),
            classes=recorded_classes(config),
            most_numbers=MOST_NUMBERS // len(parts),
            on_run=on_run,
        )
        name = _id_of(title, taken)
        taken.add(name)
        yield name, folder, data


def _id_of(title: str, taken: set[str]) -> str:
    """The title in letters, digits and dashes, with a number behind it where another became the same."""
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "data"
    names = (plain if number == 1 else f"{plain}-{number}" for number in itertools.count(1))
    return next(name for name in names if name not in taken)


def _block_text(
    name: str, folder: Path, data: RunData, out: Path, *, single: bool, alone: str | None, figures: list[Path]
) -> BlockText:
    """One data set as the page holds it; its figures for print are written on the way."""
    texts = []
    for section in sections(data):
        stem = section.name if single else f"{name}-{section.name}"
        png, pdf = save(section.printed, out / FIGURES / stem)
        figures += [png, pdf]
        texts.append((section, f"{FIGURES}/{png.name}"))
    return BlockText(
        id=name,
        title=data.title,
        subtitle=subtitle(data),
        findings=findings(
            data.runs,
            data.summary,
            alone=alone,
            paradoxical={row: each.paradoxical for row, each in data.predictions.items()},
            variation={row: float(each.variation.mean()) for row, each in data.distances.items()},
            calibration=data.calibration,
        ),
        tables=wide_tables(data.summary),
        looks=data.looks,
        failed=failed_runs(folder),
        notes=data.notes,
        sections=tuple(texts),
        **read_provenance(folder, data.runs),
    )
