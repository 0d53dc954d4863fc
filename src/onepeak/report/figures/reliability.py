"""Does what a method calls probable happen as often? Reliability diagrams of all methods, as trained and calibrated."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak.posterior import Reliability, ReliabilityBin
from onepeak.report.figures.canvas import (
    Interactive,
    Looks,
    Printed,
    PrintedAxes,
    in_print,
    interactive,
    legend_below,
    on_page,
    printed,
)

Statement: TypeAlias = Literal["confidence", "cumulative"]
STATEMENTS: Mapping[Statement, str] = {"confidence": "most probable class", "cumulative": "class k or below"}
"""What is stated, in words, by the field of `Reliability` that has it."""

FEWEST = 10
"""Statements that a bin must hold to be shown, unless no bin does."""

_GREY = "#7a7f87"


def interactive_reliability(found: Mapping[str, Reliability], looks: Looks, *, statement: Statement) -> Interactive:
    """For the page: one line per method, broken where bins are missing; a larger dot stands for more statements."""
    figure = interactive(x="predicted probability", y="observed share", height=380)
    figure.add_scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": _GREY, "width": 1, "dash": "dash"},
        showlegend=False,
        hoverinfo="skip",
    )
    for row, each in found.items():
        look, places = looks[row], list(_with_breaks(_visible_bins(each, statement), each.num_bins))
        figure.add_scatter(
            x=[point and point.stated for point in places],
            y=[point and point.happened for point in places],
            customdata=[point and point.count for point in places],
            mode="lines+markers",
            line=on_page(look, 1.5),
            marker={"color": look.colour, "symbol": look.symbol, "size": 14 * _weights(places)},
            name=row,
            hovertemplate="predicted %{x:.1%}, observed %{y:.1%} (%{customdata:,})",
        )
    axis = {"range": [-0.03, 1.03], "tickformat": ".0%"}
    figure.update_layout(xaxis=axis, yaxis=axis)
    return figure


def printed_reliability(
    trained: Mapping[str, Reliability], calibrated: Mapping[str, Reliability], looks: Looks
) -> Printed:
    """For print: a row of axes a statement, as trained on the left and calibrated on the right."""
    figure, panels = printed(2, 2, height=2.9, x="stated (%)")
    sides = {"as trained": trained, "calibrated": calibrated}
    for place, (statement, words) in enumerate(STATEMENTS.items()):
        for axes, (side, found) in zip(panels[2 * place : 2 * place + 2], sides.items(), strict=True):
            _draw(axes, found, looks, statement)
            axes.set_title(f"{words}, {side}", fontsize=8)
            axes.set_ylabel("came true (%)" if axes in panels[::2] else "", fontsize=8)
    legend_below(figure, panels[0])
    return figure


def _draw(axes: PrintedAxes, found: Mapping[str, Reliability], looks: Looks, statement: Statement) -> None:
    axes.plot([0, 100], [0, 100], color="0.6", linewidth=0.7, linestyle="--")
    for row, each in found.items():
        look, places = looks[row], list(_with_breaks(_visible_bins(each, statement), each.num_bins))
        points = [(np.nan, np.nan) if point is None else (point.stated, point.happened) for point in places]
        stated, happened = 100 * np.array(points).T
        axes.plot(stated, happened, **in_print(look, 0.8), label=row)
        axes.scatter(stated, happened, color=look.colour, s=20 * _weights(places) ** 2, linewidths=0)


def _visible_bins(found: Reliability, statement: Statement) -> tuple[ReliabilityBin, ...]:
    """The bins of a statement that hold enough to be shown: a handful come true all or none, which says nothing."""
    bins: tuple[ReliabilityBin, ...] = getattr(found, statement)
    return tuple(each for each in bins if each.count >= FEWEST) or bins


def _with_breaks(bins: Sequence[ReliabilityBin], num_bins: int) -> Iterator[ReliabilityBin | None]:
    """The bins, with None where one or more between two of them are missing: no line may lead across."""
    last: int | None = None
    for each in bins:
        place = round(each.low * num_bins)
        if last is not None and place > last + 1:
            yield None
        last = place
        yield each


def _weights(places: Sequence[ReliabilityBin | None]) -> npt.NDArray[np.float64]:
    """How large each dot is, the largest being 1: its area stands for the statements, but none is too small to see."""
    counts = np.array([0 if each is None else each.count for each in places], dtype=np.float64)
    weights: npt.NDArray[np.float64] = np.sqrt(counts / counts.max()).clip(min=0.25)
    return weights
