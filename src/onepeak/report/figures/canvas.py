"""The empty sheets that figures are drawn on: one for the page (plotly), one for print (matplotlib)."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from onepeak._core.files import write_in_one_step
from onepeak._core.imports import require
from onepeak.report.palette import Dash, Style, Symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Printed: TypeAlias = Figure
    PrintedAxes: TypeAlias = Axes
else:
    Printed = PrintedAxes = Any

Interactive: TypeAlias = Any
"""A plotly figure; plotly has no types."""
Looks: TypeAlias = Mapping[str, Style]
"""The look of every row, by its label."""

TEXT_WIDTH = 6.3
"""Inches between the margins of an A4 page."""
_PRINT_DASHES: Mapping[Dash, str] = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
PRINT_SYMBOLS: Mapping[Symbol, str] = {"circle": "o", "square": "s", "diamond": "D", "triangle-up": "^"}
_LETTER = 0.054
"""Inches of one letter of a tick or a legend, on average."""
_HANDLE = 0.5
"""Inches of the line before a name in a legend, and of what is empty around both."""
_GAP = 4
"""Pixels between two names on an axis, at least."""
FEW_CLASSES = 12
"""Up to so many classes each of them is named on an axis and marked on a line."""


def interactive(*, x: str = "", y: str = "", height: int = 420, legend: bool = True) -> Interactive:
    """An empty figure for the page, whose colours of text and lines the page sets to suit light or dark."""
    below = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0}
    plotly = require("plotly.graph_objects", extra="report", purpose="The report's page")
    return plotly.Figure(
        layout={
            "template": "none",
            "height": height,
            "margin": {"l": 8, "r": 8, "t": 12, "b": 8},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "xaxis": {"automargin": True, "zeroline": False, **({"title": {"text": x, "standoff": 8}} if x else {})},
            "yaxis": {"automargin": True, "zeroline": False, **({"title": {"text": y, "standoff": 8}} if y else {})},
            "showlegend": legend,
            "legend": below,
            "hoverlabel": {"namelength": -1},
        }
    )


def printed(
    rows: int = 1, columns: int = 1, *, height: float = 2.6, x: str = "", y: str = ""
) -> tuple[Printed, list[PrintedAxes]]:
    """An empty figure for print with its axes, row by row; the figure belongs to nobody's window."""
    figures = require("matplotlib.figure", extra="report", purpose="Figures for print")
    figure: Printed = figures.Figure(figsize=(TEXT_WIDTH, height * rows), layout="constrained")
    axes: list[PrintedAxes] = list(figure.subplots(rows, columns, squeeze=False).flat)
    for each in axes:
        each.tick_params(labelsize=7)
        each.set_xlabel(x, fontsize=8)
        each.set_ylabel(y, fontsize=8)
        each.spines[["top", "right"]].set_visible(False)
    return figure, axes


def on_page(look: Style, width: float) -> dict[str, Any]:
    """A row's line on the page."""
    return {"color": look.colour, "dash": look.dash, "width": width}


def in_print(look: Style, width: float) -> dict[str, Any]:
    """A row's line in print."""
    return {"color": look.colour, "linestyle": _PRINT_DASHES[look.dash], "linewidth": width}


def small_multiples(number: int, *, height: float) -> tuple[Printed, list[PrintedAxes]]:
    """Axes for so many like figures, three per row; those left over are not drawn."""
    columns = min(3, number)
    figure, axes = printed(-(-number // columns), columns, height=height)
    for spare in axes[number:]:
        spare.set_visible(False)
    return figure, axes[:number]


def legend_below(figure: Printed, axes: PrintedAxes) -> None:
    """Names the rows under the whole figure."""
    handles, names = axes.get_legend_handles_labels()
    fit = int(TEXT_WIDTH / (_HANDLE + _LETTER * max(map(len, names))))
    columns = max(1, min(6, fit, len(names)))
    figure.legend(handles, names, loc="outside lower center", ncols=columns, fontsize=7, frameon=False)


def class_ticks(classes: Sequence[str], *, most: int = FEW_CLASSES) -> list[int]:
    """Which classes an axis names: all of a few, else about ten of them evenly, by a round step.

    Example:
        >>> class_ticks([str(age) for age in range(70)])
        [0, 10, 20, 30, 40, 50, 60]
    """
    if len(classes) <= most:
        return list(range(len(classes)))
    round_steps = (digit * 10**power for power in itertools.count() for digit in (1, 2, 5))
    step = next(step for step in round_steps if len(classes) / step <= 10)
    return list(range(0, len(classes), step))


def class_axis(classes: Sequence[str], **axis: Any) -> dict[str, Any]:
    """An axis of plotly that names the classes, from the left end of the first to the right end of the last."""
    ticks = class_ticks(classes)
    named = {"tickmode": "array", "tickvals": ticks, "ticktext": [classes[tick] for tick in ticks]}
    return {"range": (-0.5, len(classes) - 0.5), **axis, **named}


def name_ticks(
    figure: Printed, panels: Sequence[PrintedAxes], classes: Sequence[str], *, most: int = FEW_CLASSES
) -> None:
    """Names the classes along axes of print; where names do not fit beside each other, all stand upright."""
    ticks = class_ticks(classes, most=most)
    names = [classes[tick] for tick in ticks]
    for axes in panels:
        axes.set_xticks(ticks, names)
    figure.draw_without_rendering()  # from here on it is known how much room there is
    boxes = [[label.get_window_extent() for label in axes.get_xticklabels()] for axes in panels]
    if any(right.x0 - left.x1 < _GAP for row in boxes for left, right in itertools.pairwise(row)):
        for axes in panels:
            axes.tick_params(axis="x", labelrotation=90)


def save(figure: Printed, stem: Path) -> tuple[Path, Path]:
    """Writes `<stem>.png` and `<stem>.pdf`; the same figure gives the same bytes."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = stem.with_name(f"{stem.name}.png"), stem.with_name(f"{stem.name}.pdf")
    # Places are found once for both files; matplotlib would draw all of it twice for each.
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)
        figure.set_layout_engine(None)
    write_in_one_step(paths[0], lambda part: figure.savefig(part, format="png", dpi=200))
    write_in_one_step(paths[1], lambda part: figure.savefig(part, format="pdf", metadata={"CreationDate": None}))
    return paths
