"""Does what a method calls probable happen as often? Reliability diagrams of all methods, as trained and calibrated."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak.posterior import Reliability, ReliabilityBin
from onepeak.report.figures.canvas import (
    PRINT_DASHES,
    Interactive,
    Looks,
    Printed,
    PrintedAxes,
    interactive,
    legend_below,
    plotly,
    printed,
)

Statement: TypeAlias = Literal["confidence", "cumulative"]
STATEMENTS: Mapping[Statement, str] = {"confidence": "most probable label", "cumulative": "label k or below"}
"""What is stated, in words, by the field of `Reliability` that has it."""

FEWEST = 10
"""Statements that a bin must hold to be shown, unless no bin does."""

_GREY = "#7a7f87"


def interactive_reliability(found: Mapping[str, Reliability], looks: Looks, *, statement: Statement) -> Interactive:
    """For the page: a line a method; the larger a dot, the more statements it stands for.

    Args:
        found: By row.
        looks: Of every row.
        statement: Which of the two is shown.
    """
    graph = plotly()
    figure = interactive(x="probability stated", y="share that came true", height=380)
    figure.add_trace(
        graph.Scatter(
            x=[0, 1],
            y=[0, 1],
            mode="lines",
            line={"color": _GREY, "width": 1, "dash": "dash"},
            showlegend=False,
            hoverinfo="skip",
        )
    )
    for row, each in found.items():
        look, bins = looks[row], bins_of(each, statement)
        figure.add_trace(
            graph.Scatter(
                x=[point.stated for point in bins],
                y=[point.happened for point in bins],
                customdata=[point.count for point in bins],
                mode="lines+markers",
                line={"color": look.colour, "dash": look.dash, "width": 1.5},
                marker={"color": look.colour, "symbol": look.symbol, "size": 14 * _weights(bins)},
                name=row,
                hovertemplate="stated %{x:.1%}, came true %{y:.1%} (%{customdata:,})",
            )
        )
    axis = {"range": [-0.03, 1.03], "tickformat": ".0%"}
    figure.update_layout(xaxis=axis, yaxis=axis)
    return figure


def printed_reliability(
    trained: Mapping[str, Reliability], calibrated: Mapping[str, Reliability], looks: Looks
) -> Printed:
    """For print: a row of axes a statement, as trained on the left and calibrated on the right."""
    figure, panels = printed(2, 2, height=2.9)
    sides = {"as trained": trained, "calibrated": calibrated}
    for place, (statement, words) in enumerate(STATEMENTS.items()):
        for axes, (side, found) in zip(panels[2 * place : 2 * place + 2], sides.items(), strict=True):
            _draw(axes, found, looks, statement)
            axes.set_title(f"{words}, {side}", fontsize=8)
            axes.set_ylabel("came true (%)" if axes in panels[::2] else "", fontsize=8)
            axes.set_xlabel("stated (%)" if axes in panels[2:] else "", fontsize=8)
    legend_below(figure, panels[0])
    return figure


def _draw(axes: PrintedAxes, found: Mapping[str, Reliability], looks: Looks, statement: Statement) -> None:
    axes.plot([0, 100], [0, 100], color="0.6", linewidth=0.7, linestyle="--")
    for row, each in found.items():
        look, bins = looks[row], bins_of(each, statement)
        stated, happened = 100 * np.array([(point.stated, point.happened) for point in bins]).T
        axes.plot(stated, happened, color=look.colour, linestyle=PRINT_DASHES[look.dash], linewidth=0.8, label=row)
        axes.scatter(stated, happened, color=look.colour, s=20 * _weights(bins) ** 2, linewidths=0)


def bins_of(found: Reliability, statement: Statement) -> tuple[ReliabilityBin, ...]:
    """The bins of a statement that hold enough to be shown: a handful come true all or none, which says nothing."""
    match statement:
        case "confidence":
            bins = found.confidence
        case "cumulative":
            bins = found.cumulative
    return tuple(each for each in bins if each.count >= FEWEST) or bins


def _weights(bins: Sequence[ReliabilityBin]) -> npt.NDArray[np.float64]:
    """How large each dot is, the largest being 1: its area stands for the statements, but none is too small to see."""
    counts = np.array([each.count for each in bins], dtype=np.float64)
    weights: npt.NDArray[np.float64] = np.sqrt(counts / counts.max()).clip(min=0.25)
    return weights
