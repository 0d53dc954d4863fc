"""Error against consistency: which methods are not beaten in both at once."""

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
    legend_below,
    printed,
)
from onepeak.report.palette import faint

MOST_DOTS = 100
"""Runs of a row that are shown as dots; more would hide the means."""
_NARROWEST = 0.02
"""The least that the axis of consistency spans: a trifle is not to look like a gulf."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """The error and the consistency that the runs of one row reach on their test parts."""

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


def soi_limits(values: Iterable[float]) -> tuple[float, float]:
    """Ends of the axis of consistency: all that is drawn and a little around it, but hardly more than 1.

    Where chance lies outside, it is not drawn: the points would lie at one edge.

    Example:
        >>> [round(limit, 4) for limit in soi_limits([1.0, 0.9, 1.02])]
        [0.894, 1.006]
    """
    values = list(values)
    high = min(max(values), 1.0)
    low = min(*values, high - _NARROWEST)
    margin = 0.06 * (high - low)
    return low - margin, high + margin


def limits_of(scores: Mapping[str, Scores]) -> tuple[float, float]:
    """The same for runs, means and deviations of all rows."""
    means = [(each.mean[1], each.std[1]) for each in scores.values()]
    runs = np.concatenate([each.soi for each in scores.values()]).tolist()
    return soi_limits([*runs, *(mean - std for mean, std in means), *(mean + std for mean, std in means)])


def interactive_tradeoff(scores: Mapping[str, Scores], looks: Looks, *, chance: float | None = None) -> Interactive:
    """For the page: the mean of each row with its deviation, its runs as dots, and the front."""
    figure = interactive(x="mean absolute error (lower is better)", y="side order index (higher is better)", height=460)
    front, upward = _front(scores), limits_of(scores)
    if len(front) > 1:
        figure.add_scatter(
            x=front[:, 0],
            y=front[:, 1],
            mode="lines",
            line={"color": faint("#7a7f87", 0.7), "dash": "dot", "shape": "vh"},
            name="Pareto front",
            hoverinfo="skip",
        )
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
    figure.update_layout(yaxis={"tickformat": "~%", "range": upward})  # as many digits as the ticks have
    if chance is not None and upward[0] <= chance <= upward[1]:
        figure.add_hline(
            y=chance,
            line={"dash": "dash", "width": 1, "color": "#7a7f87"},
            annotation={"text": "random guessing"},
            annotation_position="top left",
        )
    return figure


def printed_tradeoff(scores: Mapping[str, Scores], looks: Looks, *, chance: float | None = None) -> Printed:
    """For print."""
    figure, (axes,) = printed(height=3.4, x="MAE", y="SOI (%)")
    front, upward = _front(scores), limits_of(scores)
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
            label=row,
        )
    axes.set_ylim(100 * upward[0], 100 * upward[1])
    if chance is not None and upward[0] <= chance <= upward[1]:
        axes.axhline(100 * chance, color="0.6", linewidth=0.7, linestyle="--", label="random guessing")
    legend_below(figure, axes)
    return figure


def _front(scores: Mapping[str, Scores]) -> npt.NDArray[np.float64]:
    """Error and consistency of the rows on the front (places x 2), those of equal rows once."""
    means = {row: each.mean for row, each in scores.items()}
    return np.array(list(dict.fromkeys(means[row] for row in pareto_front(means)))).reshape(-1, 2)
