"""How far each method's posteriors lie from the true ones, where the data are generated and these are known."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak.report.figures.canvas import PRINT_SYMBOLS, Interactive, Looks, Printed, interactive, printed

LogProbs: TypeAlias = npt.NDArray[np.floating]


@dataclass(frozen=True, kw_only=True, eq=False)
class Distance:
    """The distance of one row's posteriors from the true ones, a mean over the test part of each run."""

    divergence: npt.NDArray[np.float64]
    """Kullback-Leibler, from the truth to the method, in nats; infinite where a method excludes what can be."""
    variation: npt.NDArray[np.float64]
    """Total variation: the probability that lies in the wrong place."""


def divergence(truth: LogProbs, log_probs: LogProbs) -> npt.NDArray[np.float64]:
    r"""Kullback-Leibler divergence :math:`\sum_k p_k (\log p_k - \log q_k)` of each sample.

    Example:
        >>> divergence(np.log([[0.5, 0.5]]), np.log([[0.25, 0.75]])).round(4)
        array([0.1438])
    """
    probs = np.exp(truth)
    # What cannot be, adds nothing, whatever the method gives it.
    difference = np.subtract(truth, log_probs, out=np.zeros(probs.shape), where=probs > 0)
    total: npt.NDArray[np.float64] = (probs * difference).sum(axis=-1)
    return total


def variation(truth: LogProbs, log_probs: LogProbs) -> npt.NDArray[np.float64]:
    r"""Total variation :math:`\frac12 \sum_k |p_k - q_k|` of each sample, from 0 to 1.

    Example:
        >>> variation(np.log([[0.5, 0.5]]), np.log([[0.25, 0.75]]))
        array([0.25])
    """
    total: npt.NDArray[np.float64] = np.abs(np.exp(truth) - np.exp(log_probs)).sum(axis=-1) / 2
    return total


def interactive_truth(distances: Mapping[str, Distance], looks: Looks) -> Interactive:
    """For the page: the total variation of each row, one dot per run and a line at their mean."""
    figure = interactive(x="total variation (mean over the test part)", height=80 + 34 * len(distances), legend=False)
    for row, each in distances.items():
        look = looks[row]
        figure.add_bar(
            x=[float(each.variation.mean())],
            y=[row],
            orientation="h",
            marker={"color": look.colour},
            opacity=0.75,
            name=row,
            hovertemplate="mean %{x:.3f}",
        )
        figure.add_scatter(
            x=each.variation[:100],
            y=[row] * min(100, len(each.variation)),
            mode="markers",
            marker={"color": look.colour, "symbol": look.symbol, "size": 7, "line": {"width": 1, "color": "white"}},
            name=row,
            hovertemplate="a run: %{x:.3f}",
        )
    figure.update_layout(yaxis={"autorange": "reversed", "type": "category"}, xaxis={"rangemode": "tozero"})
    return figure


def printed_truth(distances: Mapping[str, Distance], looks: Looks) -> Printed:
    """For print."""
    height = 0.6 + 0.28 * len(distances)
    figure, (axes,) = printed(height=height, x="mean total variation from the true posterior")
    for place, (row, each) in enumerate(distances.items()):
        look = looks[row]
        axes.barh(place, float(each.variation.mean()), color=look.colour, alpha=0.7, height=0.7)
        axes.plot(
            each.variation,
            np.full(len(each.variation), place),
            PRINT_SYMBOLS[look.symbol],
            color=look.colour,
            markeredgecolor="white",
            markeredgewidth=0.5,
            markersize=4,
        )
    axes.set_yticks(range(len(distances)), list(distances))
    axes.invert_yaxis()
    return figure
