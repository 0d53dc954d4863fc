"""Error against consistency: which methods are not beaten in both at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak.report.figures.canvas import (
    PRINT_SYMBOLS,
    Interactive,
    Looks,
    Printed,
    PrintedAxes,
    interactive,
    printed,
)
from onepeak.report.palette import faint

MOST_DOTS = 100
"""Runs of a row that are shown as dots; more would hide the means."""
_LETTERS = 12
"""Pixels of a letter's height."""
_FEWEST_LINES = 20
"""So many names, one below the other, have room beside the points, however the page is read."""
_NARROWEST = 0.02
"""Orders nearer to each other than this are drawn near: a trifle is not to look like a gulf."""

Limits: TypeAlias = tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """The error and the order that the runs of one row reach on their test parts."""

    mae: npt.NDArray[np.float64]
    soi: npt.NDArray[np.float64]

    @property
    def mean(self) -> tuple[float, float]:
        """Of the runs."""
        return float(self.mae.mean()), float(self.soi.mean())

    @property
    def std(self) -> tuple[float, float]:
        """Of the runs; 0 of one alone."""
        one = len(self.mae) < 2
        return (0.0, 0.0) if one else (float(self.mae.std(ddof=1)), float(self.soi.std(ddof=1)))

    @property
    def reach(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Of error and of order, the lowest and the highest that is drawn: of runs, or of mean and deviation."""
        low, high = np.subtract(self.mean, self.std), np.add(self.mean, self.std)
        return (
            (min(low[0], self.mae.min()), max(high[0], self.mae.max())),
            (min(low[1], self.soi.min()), max(high[1], self.soi.max())),
        )


def pareto_front(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """The rows than which no other has both a lower error and a better order, from the lowest error on.

    A row that another equals in one and beats in the other is not on the front; equal rows are on it together.

    Example:
        >>> pareto_front({"ce": (5.3, 0.53), "elb": (3.6, 0.99), "ren": (3.5, 0.3), "pn": (3.6, 0.9)})
        ['ren', 'elb']
    """

    def beaten(row: str) -> bool:
        mae, soi = points[row]
        return any(other <= mae and order >= soi and (other, order) != (mae, soi) for other, order in points.values())

    known = [row for row in points if np.isfinite(points[row]).all()]
    return sorted((row for row in known if not beaten(row)), key=lambda row: points[row])


def order_limits(scores: Mapping[str, Scores], others: Iterable[tuple[float, float]] = ()) -> Limits:
    """Of the axis of order. Where chance lies outside, it is not drawn: the points would lie at one edge."""
    return limits_of_order([*(each.reach[1] for each in scores.values()), *((soi, soi) for _, soi in others)])


def limits_around(reaches: Iterable[Limits]) -> Limits:
    """Of an axis: all that is drawn, and a little around it."""
    lows, highs = zip(*reaches, strict=True)
    low, high = min(lows), max(highs)
    margin = 0.06 * (high - low) or 0.06 * abs(high) or 0.5
    return low - margin, high + margin


def limits_of_order(reaches: Iterable[Limits]) -> Limits:
    """The same of an axis of order, which ends a little above 1 however far a deviation reaches.

    Example:
        >>> [round(limit, 4) for limit in limits_of_order([(1.0, 1.0), (0.9, 1.02)])]
        [0.894, 1.006]
    """
    lows, highs = zip(*reaches, strict=True)
    high = min(max(highs), 1.0)
    return limits_around([(min(*lows, high - _NARROWEST), high)])


def column_of_names(points: Mapping[str, tuple[float, float]], upward: Limits) -> dict[str, float]:
    """The height of each name at the right of the figure: at that of its point, or as near as the others leave room.

    Example:
        >>> heights = column_of_names({"elb": (1.0, 0.5), "pn": (2.0, 0.5)}, (0.0, 1.0))
        >>> {row: round(height, 3) for row, height in heights.items()}
        {'elb': 0.5, 'pn': 0.55}
    """
    low, high = upward
    gap = (high - low) / max(_FEWEST_LINES, len(points) + 1)
    rows = sorted(points, key=lambda row: (points[row][1], points[row][0]))
    heights, free = {}, low + gap / 2
    for row in rows:
        heights[row] = max(points[row][1], free)
        free = heights[row] + gap
    free = high - gap / 2
    for row in reversed(rows):
        heights[row] = min(heights[row], free)
        free = heights[row] - gap
    return heights


def name_beside(axes: PrintedAxes, points: Mapping[str, tuple[float, float]], colours: Mapping[str, str]) -> None:
    """Names points at the right of axes whose limits are final, with a thin line from each point to its name."""
    on_axes = axes.transAxes.inverted().transform(axes.transData.transform(list(points.values())))
    heights = column_of_names(dict(zip(points, map(tuple, on_axes), strict=True)), (0.0, 1.0))
    for row, point in points.items():
        axes.annotate(
            row,
            point,
            (1.02, heights[row]),
            textcoords="axes fraction",
            color=colours[row],
            fontsize=7,
            va="center",
            arrowprops={"arrowstyle": "-", "color": colours[row], "linewidth": 0.4, "shrinkA": 0, "shrinkB": 0},
            zorder=0,
        )


def interactive_tradeoff(scores: Mapping[str, Scores], looks: Looks, *, chance: float | None = None) -> Interactive:
    """For the page: the mean of each row with its deviation, its runs as dots, and the front."""
    figure = interactive(
        x="mean absolute error (lower is better)",
        y="side order index (higher is better)",
        height=max(460, 200 + 24 * len(scores)),
    )
    front = _front(scores)
    if len(front) > 1:
        figure.add_scatter(
            x=front[:, 0],
            y=front[:, 1],
            mode="lines",
            line={"color": faint("#7a7f87", 0.7), "dash": "dot", "shape": "vh"},
            name="Pareto front",
            hoverinfo="skip",
        )
    across, upward = limits_around([each.reach[0] for each in scores.values()]), order_limits(scores)
    heights = column_of_names({row: each.mean for row, each in scores.items()}, upward)
    for row, each in scores.items():
        look, (mae, soi), (mae_std, soi_std) = looks[row], each.mean, each.std
        figure.add_scatter(
            x=each.mae[:MOST_DOTS],
            y=each.soi[:MOST_DOTS],
            mode="markers",
            marker={"color": faint(look.colour, 0.35), "size": 5, "symbol": look.symbol},
            name=row,
            legendgroup=row,
            showlegend=False,
            hovertemplate="a run: MAE %{x:.3f}, SOI %{y:.1%}",
        )
        figure.add_scatter(
            x=[mae],
            y=[soi],
            error_x={"array": [mae_std], "thickness": 1},
            error_y={"array": [soi_std], "thickness": 1},
            mode="markers",
            marker={"color": look.colour, "size": 11, "symbol": look.symbol},
            name=row,
            legendgroup=row,
            hovertemplate="MAE %{x:.3f}, SOI %{y:.1%}",
        )
        figure.add_scatter(
            x=[mae, across[1]],
            y=[soi, heights[row]],
            mode="lines+text",
            line={"color": faint(look.colour, 0.5), "width": 1},
            text=["", f" {row}"],
            textposition="middle right",
            textfont={"size": _LETTERS},
            cliponaxis=False,
            name=row,
            legendgroup=row,  # a click on the legend takes the name away with its point
            showlegend=False,
            hoverinfo="skip",
        )
    figure.update_layout(
        yaxis={"tickformat": "~%", "range": upward},  # as many digits as the ticks have
        xaxis={"range": across},
        margin={"r": 16 + 0.55 * _LETTERS * max(map(len, scores))},
    )
    if chance is not None and upward[0] <= chance <= upward[1]:
        figure.add_hline(
            y=chance,
            line={"dash": "dash", "width": 1, "color": "#7a7f87"},
            annotation={"text": "chance"},
            annotation_position="top left",
        )
    return figure


def printed_tradeoff(
    scores: Mapping[str, Scores],
    looks: Looks,
    *,
    chance: float | None = None,
    others: Mapping[str, tuple[float, float]] | None = None,
) -> Printed:
    """For print."""
    others = {} if others is None else others
    upward = order_limits(scores, others.values())
    if chance is not None and not upward[0] <= chance <= upward[1]:
        chance = None
    figure, (axes,) = printed(height=3.4 + 0.1 * max(0, len(scores) - 6))
    front = _front(scores)
    axes.step(front[:, 0], 100 * front[:, 1], where="pre", color="0.6", linestyle=":", zorder=1)
    for row, each in scores.items():
        look, (mae, soi), (mae_std, soi_std) = looks[row], each.mean, each.std
        axes.errorbar(
            mae,
            100 * soi,
            xerr=mae_std,
            yerr=100 * soi_std,
            color=look.colour,
            marker=PRINT_SYMBOLS[look.symbol],
            markersize=5,
            elinewidth=0.7,
            linestyle="none",
        )
    for row, (mae, soi) in others.items():
        axes.plot(mae, 100 * soi, color=looks[row].colour, marker="o", markersize=6, fillstyle="none", linestyle="none")
    axes.set_xlabel("MAE", fontsize=8)
    axes.set_ylabel("SOI (%)", fontsize=8)
    if chance is not None:
        axes.axhline(100 * chance, color="0.6", linewidth=0.7, linestyle="--")
        across = axes.get_yaxis_transform()
        axes.text(0.005, 100 * chance, "chance", color="0.5", fontsize=6, va="bottom", transform=across)
    axes.set_xlim(axes.get_xlim())
    axes.set_ylim(100 * upward[0], 100 * upward[1])
    means = {row: (each.mean[0], 100 * each.mean[1]) for row, each in scores.items()}
    name_beside(axes, means, {row: looks[row].colour for row in scores})
    return figure


def _front(scores: Mapping[str, Scores]) -> npt.NDArray[np.float64]:
    """Error and order of the rows on the front (places x 2), those of equal rows once."""
    means = {row: each.mean for row, each in scores.items()}
    return np.array(list(dict.fromkeys(means[row] for row in pareto_front(means)))).reshape(-1, 2)
