"""Error against order: which methods are not beaten in both at once."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak.report.figures.canvas import PRINT_SYMBOLS, Interactive, Looks, Printed, interactive, plotly, printed
from onepeak.report.palette import faint

_SIDES = ("top left", "bottom right", "top right", "bottom left")
MOST_DOTS = 100
"""Runs of a row that are shown as dots; more would hide the means."""


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


def interactive_tradeoff(scores: Mapping[str, Scores], looks: Looks, *, chance: float | None = None) -> Interactive:
    """For the page: the mean of each row with its deviation, its runs as dots, and the front."""
    graph = plotly()
    figure = interactive(x="mean absolute error (lower is better)", y="side order index (higher is better)", height=460)
    front = _front(scores)
    figure.add_trace(
        graph.Scatter(
            x=front[:, 0],
            y=front[:, 1],
            mode="lines",
            line={"color": faint("#7a7f87", 0.7), "dash": "dot", "shape": "vh"},
            name="Pareto front",
            hoverinfo="skip",
        )
    )
    # Names of neighbours go to different sides of their points.
    in_order = sorted(scores, key=lambda row: scores[row].mean)
    places = {row: _SIDES[place % len(_SIDES)] for place, row in enumerate(in_order)}
    for row, each in scores.items():
        look, (mae, soi), (mae_std, soi_std) = looks[row], each.mean, each.std
        figure.add_trace(
            graph.Scatter(
                x=each.mae[:MOST_DOTS],
                y=each.soi[:MOST_DOTS],
                mode="markers",
                marker={"color": faint(look.colour, 0.35), "size": 5, "symbol": look.symbol},
                name=row,
                legendgroup=row,
                showlegend=False,
                hovertemplate="a run: MAE %{x:.3f}, SOI %{y:.1%}",
            )
        )
        figure.add_trace(
            graph.Scatter(
                x=[mae],
                y=[soi],
                error_x={"array": [mae_std], "thickness": 1},
                error_y={"array": [soi_std], "thickness": 1},
                mode="markers+text",
                marker={"color": look.colour, "size": 11, "symbol": look.symbol},
                text=[row],
                textposition=places[row],
                name=row,
                legendgroup=row,
                hovertemplate="MAE %{x:.3f}, SOI %{y:.1%}",
            )
        )
    figure.update_layout(yaxis={"tickformat": ".0%"})
    if chance is not None:
        figure.add_hline(
            y=chance,
            line={"dash": "dash", "width": 1, "color": "#7a7f87"},
            annotation={"text": "chance", "xanchor": "right"},
        )
    return figure


def printed_tradeoff(scores: Mapping[str, Scores], looks: Looks, *, chance: float | None = None) -> Printed:
    """For print."""
    figure, (axes,) = printed(height=3.4)
    front = _front(scores)
    if len(front):
        axes.step(
            front[:, 0], 100 * front[:, 1], where="pre", color="0.6", linestyle=":", label="Pareto front", zorder=1
        )
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
        axes.annotate(row, (mae, 100 * soi), xytext=(4, 4), textcoords="offset points", fontsize=7, color=look.colour)
    if chance is not None:
        axes.axhline(100 * chance, color="0.6", linewidth=0.7, linestyle="--")
        axes.annotate(
            "chance", (1, 100 * chance), xycoords=("axes fraction", "data"), fontsize=7, ha="right", va="bottom"
        )
    axes.set_xlabel("MAE", fontsize=8)
    axes.set_ylabel("SOI (%)", fontsize=8)
    return figure


def _front(scores: Mapping[str, Scores]) -> npt.NDArray[np.float64]:
    """Error and order of the rows on the front (rows x 2)."""
    means = {row: each.mean for row, each in scores.items()}
    return np.array([means[row] for row in pareto_front(means)]).reshape(-1, 2)
