"""Writes the report of one or more folders of runs: tables, figures for print, and the page."""

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from onepeak._core.files import write_text_in_one_step
from onepeak._core.imports import Frame, require
from onepeak.errors import InputError
from onepeak.experiment.published import PAPER
from onepeak.experiment.results import read_results
from onepeak.experiment.run_files import failed_runs, read_config, recorded_classes
from onepeak.report.figures.canvas import save
from onepeak.report.findings import Finding, findings
from onepeak.report.method_tables import wide_tables
from onepeak.report.page import BlockText, page_html, read_provenance, subtitle
from onepeak.report.planned_comparison import check_rows
from onepeak.report.run_data import MOST_NUMBERS, RunData, gather
from onepeak.report.sections import sections
from onepeak.report.source import open_source
from onepeak.report.summary import blocks, summary
from onepeak.report.tables import write_summary

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
    tables = wide_tables(data.summary)
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
        tables=tuple(table for table in tables if PAPER not in table.title),
        paper=tuple(table for table in tables if PAPER in table.title),
        looks=data.looks,
        failed=failed_runs(folder),
        notes=data.notes,
        sections=tuple(texts),
        provenance=read_provenance(folder, read_config(folder), data.runs),
    )
