"""How many adjacent pairs are out of order: the whole distribution, not its mean alone."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak._core.imports import require
from onepeak.report.figures.canvas import FEW_CLASSES, Interactive, Looks, Printed, interactive, printed

Counts: TypeAlias = npt.NDArray[np.int64]
"""How many predictions have 0, 1, 2, ... pairs out of order."""


def shares(counts: Counts) -> npt.NDArray[np.float64]:
    """Of all predictions; zeros where there are none."""
    return counts / max(1, int(counts.sum()))


def mean_count(counts: Counts) -> float:
    """The mean number of pairs out of order.

    Example:
        >>> mean_count(np.array([3, 0, 1]))
        0.5
    """
    return float((counts * np.arange(len(counts))).sum() / max(1, counts.sum()))


def interactive_violations(counts: Mapping[str, Counts], looks: Looks) -> Interactive:
    """For the page: a row of bars for each method, over one axis."""
    subplots = require("plotly.subplots", extra="report", purpose="The report's page")
    number = len(counts)
    figure = subplots.make_subplots(rows=number, cols=1, shared_xaxes=True, vertical_spacing=0.12 / max(2, number))
    figure.update_layout(interactive(height=90 + 58 * number, legend=False).layout)
    for place, (row, each) in enumerate(counts.items(), start=1):
        figure.add_bar(
            x=np.arange(len(each)),
            y=shares(each).astype(np.float32),
            marker={"color": looks[row].colour},
            name=row,
            hovertemplate="%{x} of " + str(len(each) - 1) + " pairs out of order: %{y:.1%}",
            row=place,
            col=1,
        )
        figure.add_annotation(
            text=f"<b>{row}</b>, mean {mean_count(each):.2f}",
            xref="x domain",
            yref="y domain",
            x=1,
            y=1,
            xanchor="right",
            yanchor="top",
            showarrow=False,
            row=place,
            col=1,
        )
    highest = _highest(counts)
    figure.update_yaxes(
        range=[0, 1.05 * highest],
        tickformat=".0%",
        tickvals=[0, 0.5] if highest > 0.5 else [0, 0.1],
        automargin=True,
        zeroline=False,
    )
    few = max(len(each) for each in counts.values()) <= FEW_CLASSES
    figure.update_xaxes(zeroline=False, automargin=True, **({"dtick": 1} if few else {}))
    figure.update_xaxes(title={"text": "pairs out of order to the prediction"}, row=number, col=1)
    figure.update_layout(bargap=0.1)
    return figure


def printed_violations(counts: Mapping[str, Counts], looks: Looks) -> Printed:
    """For print."""
    figure, panels = printed(len(counts), 1, height=0.62)
    highest = _highest(counts)
    for axes, (row, each) in zip(panels, counts.items(), strict=True):
        axes.stairs(100 * shares(each), np.arange(len(each) + 1) - 0.5, color=looks[row].colour, fill=True)
        axes.set_ylabel(row, rotation=0, ha="right", va="center", fontsize=7)
        axes.set_xlim(-0.7, len(each) - 0.3)
        axes.set_ylim(0, 105 * highest)
        axes.annotate(f"mean {mean_count(each):.2f}", (0.99, 0.75), xycoords="axes fraction", ha="right", fontsize=6)
        axes.locator_params(axis="x", integer=True)  # half a pair cannot be out of order
        axes.tick_params(labelbottom=axes is panels[-1])
    panels[-1].set_xlabel("pairs out of order to the prediction (share of predictions in %)", fontsize=8)
    return figure


def _highest(counts: Mapping[str, Counts]) -> float:
    """The largest share of any row, so that all have one scale."""
    return max(float(shares(each).max()) for each in counts.values())
