"""Error against order: which methods are not beaten in both at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak.report.figures.canvas import (
    PRINT_SYMBOLS,
    Interactive,
    Looks,
    Printed,
    interactive,
    printed,
)
from onepeak.report.figures.name_positions import (
    Limits,
    NoRoomError,
    column_of_names,
    limits_around,
    limits_of_order,
    name_points,
)
from onepeak.report.palette import faint

MOST_DOTS = 100
"""Runs of a row that are shown as dots; more would hide the means."""
_LETTERS = 12
"""Pixels of a letter's height."""
_TRIES = 10
"""How often names look for places between the points, before they stand beside the image."""
_MOST_BETWEEN = 20
"""More names hardly ever find room between the points, and look for it for seconds."""
_LEVEL = "\n"
"""Stands for the level of chance among rows; none is called so."""


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

    Args:
        points: Error and order of each row.

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
    """Of the axis of order. Where chance lies outside, it is not drawn: the points would lie at one edge.

    Args:
        scores: Of each row.
        others: Error and order of what else is drawn.
    """
    return limits_of_order([*(each.reach[1] for each in scores.values()), *((soi, soi) for _, soi in others)])


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
    heights = column_of_names({row: each.mean for row, each in scores.items()}, across, upward)
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
    """For print.

    Args:
        scores: Of each row.
        looks: Of each row.
        chance: The order that chance has, drawn where the axis reaches to it.
        others: Error and order that others found for rows of the same name, drawn hollow.
    """
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
    axes.set_xlim(axes.get_xlim())  # names find their places in what is seen now
    axes.set_ylim(100 * upward[0], 100 * upward[1])
    side = axes.get_xlim()[1]
    level = None if chance is None else axes.text(side, 100 * chance, " chance", fontsize=7, va="center")
    places = np.array([each.mean for each in scores.values()]) * [1, 100]
    colours = [looks[row].colour for row in scores]
    try:
        if len(scores) > _MOST_BETWEEN:
            raise NoRoomError
        hollow = np.array(list(others.values())).reshape(-1, 2) * [1, 100]
        lines = np.concatenate([_lines(scores, chance, axes.get_xlim()), hollow])
        name_points(figure, axes, places, list(scores), colours, drawn=lines, tries=_TRIES)
    except NoRoomError:
        # They lie too close for names between them: all stand beside the image, the word "chance" among them.
        points = {row: (mae, soi) for row, (mae, soi) in zip(scores, places, strict=True)}
        beside = {} if level is None else {_LEVEL: level.get_position()}
        heights = column_of_names(points | beside, axes.get_xlim(), axes.get_ylim())
        for (row, (mae, soi)), colour in zip(points.items(), colours, strict=True):
            axes.plot([mae, side], [soi, heights[row]], color=colour, linewidth=0.4, zorder=0)
            axes.text(side, heights[row], f" {row}", fontsize=7, color=colour, va="center")
        if level is not None:
            level.set_y(heights[_LEVEL])
    return figure


def _lines(scores: Mapping[str, Scores], chance: float | None, across: tuple[float, float]) -> npt.NDArray[np.float64]:
    """Points along what is drawn beside the means: deviations, and the level of chance."""
    share = np.linspace(-1, 1, 101)[:, None]
    bars = [each.mean + share * np.diag(each.std)[axis] for each in scores.values() for axis in (0, 1)]
    level = [] if chance is None else [np.column_stack([np.linspace(*across, 201), np.full(201, chance)])]
    return np.concatenate([*bars, *level]) * [1, 100]


def _front(scores: Mapping[str, Scores]) -> npt.NDArray[np.float64]:
    """Error and order of the rows on the front (places x 2), those of equal rows once."""
    means = {row: each.mean for row, each in scores.items()}
    return np.array(list(dict.fromkeys(means[row] for row in pareto_front(means)))).reshape(-1, 2)
