"""The tables of one or more experiments: as CSV for programs, Markdown and LaTeX for readers, and on the terminal."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onepeak._core.files import write_text_in_one_step
from onepeak._core.imports import Frame, require
from onepeak.errors import InputError
from onepeak.experiment.results import read_results
from onepeak.experiment.statistics import RankComparison, compare_ranks
from onepeak.experiment.tuning import tuned_note
from onepeak.report.figures.canvas import printed, save
from onepeak.report.method_tables import WideTable, latex_table, markdown_table, selecting, wide_tables
from onepeak.report.summary import TABLE_METRICS, in_common, summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

ON_TERMINAL = ("mae", "soi_predicted", "unimodal")
"""What fits in 80 columns; where another metric chose the epochs, it comes first and the last one is left out."""
RANKED = ("mae", "soi_predicted")
"""The metrics that have a diagram of ranks where there are several data sets."""


@dataclass(frozen=True, kw_only=True)
class TablePaths:
    """What was written."""

    csv: Path
    """Long form: one row per data set, metric and method; see `onepeak.report.summary.summary`."""
    markdown: Path
    latex: Path
    diagrams: tuple[Path, ...]
    """Of mean ranks, PNG and PDF, where there are several data sets."""


def write_tables(*folders: str | Path, out: str | Path | None = None, against: str | None = None) -> TablePaths:
    """Writes table.csv, table.md and table.tex, and diagrams of ranks where there are several data sets.

    The same runs give the same bytes, whenever and in whatever order they were done.

    Args:
        folders: What `onepeak compare` or `onepeak train` wrote to.
        out: Where to; the folder itself if left out, which needs it to be one.
        against: The row that the others are tested against; the best one of each metric if left out.
    """
    if out is None and len(folders) > 1:
        raise InputError(f"`out` must be given for tables of {len(folders)} folders.", argument="out")
    results = read_results(*folders)
    return write_summary(results, summary(results, against=against), Path(folders[0] if out is None else out))


def write_summary(results: Frame, table: Frame, folder: Path) -> TablePaths:
    """Writes the same from a summary that is made already."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"`out` must be a folder, got {folder}: {error.strerror}.", argument="out") from error
    tables = wide_tables(table)
    paths = TablePaths(
        csv=folder / "table.csv",
        markdown=folder / "table.md",
        latex=folder / "table.tex",
        diagrams=tuple(
            path
            for metric in RANKED
            if (comparison := rank_comparison(results, metric)) is not None
            for path in write_diagram(comparison, folder / f"ranks-{metric}", title=TABLE_METRICS[metric].title)
        ),
    )
    write_text_in_one_step(paths.csv, table.to_csv(index=False, float_format="%.10g", lineterminator="\n"))
    note = tuned_note(results)
    write_text_in_one_step(paths.markdown, _joined(tables, markdown_table) + (f"\nNote: {note}.\n" if note else ""))
    write_text_in_one_step(paths.latex, "% needs \\usepackage{booktabs}\n" + _joined(tables, latex_table))
    return paths


def rank_comparison(results: Frame, metric: str) -> RankComparison | None:
    """Mean ranks over data sets of the methods that have a figure on all of them; None where there are too few.

    Only splits and folds count that all these methods have: means over other runs than those of others would rank easy
    splits before hard ones. A data set without any is left out. Ranks on one data set depend on each other, so several
    folders of it count once, with the mean of their means.
    """
    better = TABLE_METRICS[metric].higher_is_better
    if better is None:
        raise InputError(f"`metric` must be one to rank by, got {metric!r}, of which neither more nor less is better.")
    column = f"test_{metric}"
    if column not in results:
        return None
    known = results[results[column].notna()]
    on_all = known.groupby("label")["dataset"].transform("nunique") == results["dataset"].nunique()
    of_folders = in_common(known[on_all], column).groupby(["dataset", "experiment", "label"])[column].mean()
    means = of_folders.groupby(level=["dataset", "label"]).mean().unstack("label")
    complete = [name for name in dict.fromkeys(results["label"]) if name in means and means[name].notna().all()]
    if len(means) < 2 or len(complete) < 2:
        return None
    return compare_ranks(
        means[complete].to_numpy(dtype="float64"),
        tuple(complete),
        higher_is_better=better,
    )


def terminal_tables(results: Frame, *, against: str | None = None) -> tuple[WideTable, ...]:
    """What chose the epochs, error and order of every method: one table per data set, all with the same columns."""
    table = summary(results, against=against)
    chosen = selecting(table)
    names = list(dict.fromkeys([*chosen, *ON_TERMINAL]))
    return wide_tables(table, metrics=names[: max(len(ON_TERMINAL), len(chosen) + 2)])


def terminal_table(results: Frame, *, against: str | None = None) -> "Table":
    """Error and order of every method as a table that fits a terminal, the best in bold."""
    rich = require("rich.table", extra="cli", purpose="A table on the terminal")
    text = require("rich.text", extra="cli", purpose="A table on the terminal")
    tables = terminal_tables(results, against=against)
    several = len(tables) > 1
    drawn: Table = rich.Table(title=None if several else text.Text(tables[0].title), caption_justify="left")
    names = ("data", *tables[0].header) if several else tables[0].header
    for place, name in enumerate(names):
        drawn.add_column(name, justify="left" if place < 1 + several else "right")
    for table in tables:
        for number, row in enumerate(table.rows):
            cells = [text.Text(cell.text + cell.mark, style="bold" if cell.bold else "") for cell in row]
            title = text.Text(table.title if number == 0 else "")
            drawn.add_row(*([title] if several else []), *cells)
        drawn.add_section()
    captions = dict.fromkeys(f"{table.title}: {table.caption}" if several else table.caption for table in tables)
    drawn.caption = text.Text("\n".join(captions))
    return drawn


def _joined(tables: tuple[WideTable, ...], written: Callable[[WideTable], str]) -> str:
    return "\n".join(written(table) for table in tables)


def critical_difference_diagram(comparison: RankComparison, *, title: str = "") -> "Figure":
    """Mean ranks, the best on top; methods whose bars overlap differ by less than the critical difference."""
    figure, (axes,) = printed(height=0.9 + 0.2 * len(comparison.methods))
    places = range(len(comparison.methods))
    half = comparison.critical_difference / 2
    axes.errorbar(comparison.mean_ranks, places, xerr=half, fmt="o", color="black", ecolor="0.6", markersize=4)
    named = zip(comparison.methods, comparison.mean_ranks, strict=True)
    axes.set_yticks(places, [f"{name}  {rank:.2f}" for name, rank in named])
    axes.invert_yaxis()
    note = f"critical difference {comparison.critical_difference:.2f}, {comparison.num_datasets} data sets"
    axes.set_xlabel(f"mean rank (1 is best); {note}", fontsize=8)
    axes.set_title(title, fontsize=9, loc="left")
    return figure


def write_diagram(comparison: RankComparison, path: Path, *, title: str = "") -> tuple[Path, Path]:
    """Writes the diagram as PNG and PDF; the same ranks give the same bytes."""
    return save(critical_difference_diagram(comparison, title=title), path)
