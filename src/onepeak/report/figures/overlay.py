"""The posteriors that share one predicted label, laid over each other: do they fall away from it?"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak.report.figures.canvas import (
    Interactive,
    Looks,
    Printed,
    class_axis,
    interactive,
    name_ticks,
    small_multiples,
)
from onepeak.report.palette import faint

PosteriorFigures: TypeAlias = Mapping[int, npt.NDArray[np.float32]]
"""Some posteriors (posteriors x classes, probabilities) of each predicted label."""


def most_common_label(rows: Mapping[str, PosteriorFigures], counts: Mapping[str, npt.NDArray[np.int64]]) -> int:
    """The label to show first: one that every method predicts if there is such, and of these the most frequent."""
    together = np.sum(list(counts.values()), axis=0)
    everywhere = [sum(label in posteriors for posteriors in rows.values()) for label in range(len(together))]
    return int(np.lexsort((together, everywhere))[-1])


def interactive_overlay(
    posteriors: PosteriorFigures, classes: Sequence[str], looks: Looks, *, row: str, label: int, highest: float
) -> Interactive:
    """For the page: one method. Every trace's `meta` is its label; the page shows those of the label chosen."""
    colour = looks[row].colour
    figure = interactive(y="probability", height=220, legend=False)
    figure.update_layout(xaxis=class_axis(classes), yaxis={"range": [0, 1.05 * highest]})
    places = np.arange(len(classes) + 1, dtype=np.int16)
    for each, found in posteriors.items():
        # One line with gaps for all posteriors: a trace each would be too many for a browser.
        gaps = np.full((len(found), 1), np.nan, dtype=np.float32)
        shared = {"meta": each, "visible": each == label, "mode": "lines", "hoverinfo": "skip"}
        figure.add_scatter(
            x=np.tile(places, len(found)),
            y=np.concatenate([found, gaps], axis=1).ravel(),
            line={"color": faint(colour, 0.35), "width": 1},
            **shared,
        )
        figure.add_scatter(x=places[:-1], y=found.mean(axis=0), line={"color": colour, "width": 2.5}, **shared)
    return figure


def printed_overlay(
    rows: Mapping[str, PosteriorFigures], classes: Sequence[str], looks: Looks, *, label: int
) -> Printed:
    """For print: one label, all methods beside each other."""
    figure, panels = small_multiples(
        len(rows), height=1.6 + 0.05 * max(0, max(map(len, classes)) - 6)
    )  # long names stand upright
    highest = max((float(found[label].max()) for found in rows.values() if label in found), default=1.0)
    for axes, (row, posteriors) in zip(panels, rows.items(), strict=True):
        found = posteriors.get(label)
        if found is None:
            axes.annotate("never predicted", (0.5, 0.5), xycoords="axes fraction", ha="center", fontsize=7)
        else:
            axes.plot(found.T, color=looks[row].colour, alpha=0.3, linewidth=0.6)
            axes.plot(found.mean(axis=0), color=looks[row].colour, linewidth=1.6)
        axes.set_title(row, fontsize=8)
        axes.set_xlim(-0.5, len(classes) - 0.5)
        axes.set_ylim(0, 1.05 * highest)
    figure.suptitle(f"posteriors whose predicted label is {classes[label]}", fontsize=8)
    name_ticks(figure, panels, classes, most=8)
    return figure
