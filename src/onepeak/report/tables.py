"""Tables of experiments: CSV for programs, Markdown and LaTeX (with booktabs) for readers, and the terminal's."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onepeak._core.files import write_text_in_one_step
from onepeak._core.imports import Frame
from onepeak._core.wording import counted
from onepeak.errors import InputError
from onepeak.experiment.published import PAPER
from onepeak.experiment.results import read_results
from onepeak.experiment.statistics import RankComparison, compare_ranks
from onepeak.experiment.tuning import tuned_note
from onepeak.report.figures.canvas import printed, save
from onepeak.report.palette import FEWEST
from onepeak.report.sentences import chance_in_words, enumerated
from onepeak.report.summary import LEVEL, TABLE_METRICS, in_common, summary

HEADLINES = ("mae", "qwk", "soi_predicted", "unimodal", "accuracy", "rps_calibrated")
"""The metrics of the first table, after the one that chose the epoch; the others follow in further ones."""
WIDEST = 6
"""The most metrics in one table: what fits on a page."""
UNDEFINED = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
WORSE, BETTER = "*", "‡"
"""After a figure that is really worse, or better, than what it is tested against."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What one cell says."""

    text: str
    bold: bool = False
    mark: str = ""
    """A sign after the text that the caption explains."""


def cells(*texts: object) -> tuple[Cell, ...]:
    """A row of plain cells."""
    return tuple(Cell(text=str(text)) for text in texts)


@dataclass(frozen=True, kw_only=True)
class WideTable:
    """A table as it is read; how it is written is for Markdown, LaTeX or the terminal to know."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str
    beside_paper: bool = False
    """Whether it has the paper's figures beside ours."""


def wide_tables(summary: Frame, *, metrics: Sequence[str] | None = None) -> tuple[WideTable, ...]:
    """All tables of a summary: those of the metrics and the one beside the paper, data set by data set."""
    found = []
    for dataset in dict.fromkeys(summary["dataset"]):
        block = summary[summary["dataset"] == dataset]
        present = list(dict.fromkeys(block["metric"]))
        if metrics is not None:
            found.append(metric_table(block, [name for name in metrics if name in present]))
            continue
        first = [name for name in dict.fromkeys([*selecting(block), *HEADLINES]) if name in present]
        others = [name for name in present if name not in first]
        if first:
            found.append(metric_table(block, first))
        for start in range(0, len(others), WIDEST):
            found.append(metric_table(block, others[start : start + WIDEST], subtitle=", further metrics"))
        if block["paper_mean"].notna().any():
            found.append(paper_table(block[block["paper_mean"].notna()]))
    return tuple(found)


def selecting(summary: Frame) -> list[str]:
    """The metrics that chose the epochs; "loss" and "last" are none."""
    present = set(summary["metric"])
    return [name for name in dict.fromkeys(summary["selected_by"]) if name in present]


def metric_table(block: Frame, metrics: Sequence[str], *, subtitle: str = "") -> WideTable:
    """Mean and deviation of some metrics on one data set, the best in bold, a sign where one is really worse or better.

    Against the best no other can be better; against a row of one's choice others can.
    """
    of_metrics = block[block["metric"].isin(metrics)]
    measured = of_metrics.to_dict("records")
    figures = {(row["method"], row["metric"]): _measured(row) for row in measured}
    runs = block.groupby("method", sort=False)["n"].max()
    rows = tuple((*cells(method, n), *(figures[method, metric] for metric in metrics)) for method, n in runs.items())
    chances: dict[str, dict[str, float]] = {}
    for row in measured:
        chances.setdefault(row["metric"], {})[row["decision"]] = row["chance"]
    told = ((metric, chance_in_words(levels, "{:.3f}".format)) for metric, levels in chances.items())
    guessing = ", ".join(f"{TABLE_METRICS[metric].short} {levels}" for metric, levels in told if levels)
    constants = of_metrics["constant"].dropna()
    sentences = [
        "Mean ± standard deviation over runs"
        + ("; the best in bold" if any(row["best"] and row["n_pairs"] >= FEWEST for row in measured) else ""),
        _tested(of_metrics) if len(rows) > 1 else "",
        _partly(measured),
        f"one constant class: MAE {constants.iloc[0]:.3f}" if len(constants) else "",
        f"random guessing: {guessing}" if guessing else "",
        _decided(block) if "soi_predicted" in metrics else "",
    ]
    return WideTable(
        title=f"{block['dataset'].iloc[0]}{subtitle}",
        header=("method", "runs", *(_headed(metric) for metric in metrics)),
        rows=rows,
        caption="; ".join(sentence for sentence in sentences if sentence) + ".",
    )


def paper_table(block: Frame) -> WideTable:
    """The paper's figures, ours, and the difference."""
    metrics = list(dict.fromkeys(block["metric"]))
    by_name = {(row["method"], row["metric"]): row for row in block.to_dict("records")}
    rows = []
    for method in dict.fromkeys(block["method"]):
        own = [by_name[method, metric] for metric in metrics]
        mark = "" if own[0]["paper_same"] else "†"
        beside = [cell for row in own for cell in _beside(row)]
        rows.append((Cell(text=str(method), mark=mark), *beside))
    other = any(row[0].mark for row in rows)
    return WideTable(
        title=f"{block['dataset'].iloc[0]}, beside {PAPER}",
        beside_paper=True,
        header=(
            "method",
            *(name for m in metrics for name in (f"{TABLE_METRICS[m].short} paper", "ours", "difference")),
        ),
        rows=tuple(rows),
        caption="Mean ± standard deviation over runs; difference: ours minus the paper's"
        + ("; † other formulas, settings or training than the paper's" if other else "")
        + ". Not compared: the choice of epoch and Nesterov momentum, on which the paper's text and code differ.",
    )


def _measured(row: dict[Any, Any]) -> Cell:
    """A figure with what its test says, if there are enough pairs for one."""
    enough, mark = row["n_pairs"] >= FEWEST, ""
    if enough and row["p_value"] < LEVEL:
        mark = BETTER if (row["difference"] > 0) == TABLE_METRICS[row["metric"]].higher_is_better else WORSE
    text = _spread(row["metric"], row["mean"], row["std"])
    return Cell(text=text, bold=bool(row["best"]) and enough, mark=mark)


def _tested(block: Frame) -> str:
    """What the signs mean, or why there are none."""
    against = block["against"].iloc[0]
    if block["n_pairs"].max() < FEWEST:
        return f"too few runs to name a winner (at least {FEWEST} needed)"
    signs = f"{WORSE} worse than the best" if against is None else f"{WORSE} worse, {BETTER} better than {against}"
    return f"{signs}: p < {LEVEL:g} (corrected resampled t-test, Holm)"


def _partly(measured: Iterable[dict[Any, Any]]) -> str:
    """That means are compared over fewer runs than they are of."""
    shared = {
        row["metric"]: row["n_pairs"]
        for row in measured
        if row["n"] > row["n_pairs"] and TABLE_METRICS[row["metric"]].higher_is_better is not None
    }
    if not shared:
        return ""
    if len(set(shared.values())) == 1:
        return f"compared over the {counted(next(iter(shared.values())), 'run')} that all methods share"
    told = ", ".join(f"{TABLE_METRICS[name].short} {number}" for name, number in shared.items())
    return f"compared over the runs that all methods share: {told}"


def _decided(block: Frame) -> str:
    """Which rows decide by another rule than the mode; empty where none does."""
    rules: dict[str, list[str]] = {}
    for method, rule in block.drop_duplicates("method")[["method", "decision"]].itertuples(index=False):
        if rule not in ("", "mode"):
            rules.setdefault(rule.replace("_", " "), []).append(method)
    if not rules:
        return ""
    told = [
        f"{enumerated(rows)} {'decides' if len(rows) == 1 else 'decide'} by the {rule}" for rule, rows in rules.items()
    ]
    below = "where that is not the peak, the SOI is below 1 even with one peak"
    return f"{enumerated(told)}, not by the mode: {below}"


def _beside(row: dict[Any, Any]) -> tuple[Cell, ...]:
    metric, difference = row["metric"], row["paper_difference"]
    change = UNDEFINED if math.isnan(difference) else f"{difference:+.{_decimals(metric)}f}".replace("-", MINUS)
    return cells(_spread(metric, row["paper_mean"], row["paper_std"]), _spread(metric, row["mean"], row["std"]), change)


def _spread(metric: str, mean: float, std: float) -> str:
    if math.isnan(mean):
        return UNDEFINED
    digits = _decimals(metric)
    text = f"{mean:.{digits}f}".replace("-", MINUS)
    return text if math.isnan(std) else f"{text} ± {std:.{digits}f}"


def _decimals(metric: str) -> int:
    return 4 if TABLE_METRICS[metric].high == 1.0 else 3


def _headed(metric: str) -> str:
    record = TABLE_METRICS[metric]
    return record.short + {None: "", True: " ↑", False: " ↓"}[record.higher_is_better]


_ESCAPED = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "±": r"$\pm$", MINUS: r"$-$",
        UNDEFINED: "--", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "*": r"$^{*}$", "†": r"$^{\dagger}$",
        "‡": r"$^{\ddagger}$",
        "[": "{[}",  # after the end of a row it would begin an option
    }
)  # fmt: skip


def latex_table(table: WideTable) -> str:
    """A table environment with its caption."""
    lines = [
        r"\begin{table}[htbp]",
        r"  \centering",
        rf"  \caption{{{latex_escaped(f'{table.title}. {table.caption}')}}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
        r"    \toprule",
        f"    {' & '.join(latex_escaped(name) for name in table.header)} \\\\",
        r"    \midrule",
        *(f"    {' & '.join(_cell(cell) for cell in row)} \\\\" for row in table.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex_escaped(text: str) -> str:
    r"""Text as LaTeX has to read it to show it.

    Example:
        >>> print(latex_escaped("soi_true 99 %"))
        soi\_true 99 \%
    """
    return text.translate(_ESCAPED)


def _cell(cell: Cell) -> str:
    text = latex_escaped(cell.text)
    return (rf"\textbf{{{text}}}" if cell.bold else text) + latex_escaped(cell.mark)


def markdown_table(table: WideTable) -> str:
    """A heading, the table and its caption.

    Example:
        >>> row = (Cell(text="elb"), Cell(text="0.5", bold=True))
        >>> print(markdown_table(WideTable(title="iciar", header=("method", "mae"), rows=(row,), caption="One run.")))
        ## iciar
        <BLANKLINE>
        | method | mae |
        |:---|---:|
        | elb | **0.5** |
        <BLANKLINE>
        One run.
        <BLANKLINE>
    """
    lines = [
        f"## {markdown_escaped(table.title)}",
        "",
        _line(markdown_escaped(name) for name in table.header),
        "|:---|" + "---:|" * (len(table.header) - 1),
        *(_line(_cell_markdown(cell) for cell in row) for row in table.rows),
        "",
        markdown_escaped(table.caption),
    ]
    return "\n".join(lines) + "\n"


def markdown_escaped(text: str) -> str:
    r"""Text that Markdown shows as it is.

    Example:
        >>> print(markdown_escaped("a|b *"))
        a\|b \*
    """
    return "".join(f"\\{character}" if character in r"\`*_|<>[]" else character for character in text)


def _cell_markdown(cell: Cell) -> str:
    text = markdown_escaped(cell.text)
    return (f"**{text}**" if cell.bold else text) + markdown_escaped(cell.mark)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
            for path in save(
                critical_difference_diagram(comparison, title=TABLE_METRICS[metric].title), folder / f"ranks-{metric}"
            )
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
    return compare_ranks(means[complete].to_numpy(dtype="float64"), tuple(complete), higher_is_better=better)


def terminal_tables(results: Frame, *, against: str | None = None) -> tuple[WideTable, ...]:
    """What chose the epochs, error and order of every method: one table per data set, all with the same columns."""
    table = summary(results, against=against)
    chosen = selecting(table)
    names = list(dict.fromkeys([*chosen, *ON_TERMINAL]))
    return wide_tables(table, metrics=names[: max(len(ON_TERMINAL), len(chosen) + 2)])


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
