"""What each true class is taken for."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from onepeak.report.figures.canvas import (
    Interactive,
    Printed,
    class_ticks,
    interactive,
    name_classes,
    plotly,
    small_multiples,
)
from onepeak.report.figures.class_errors import Table
from onepeak.report.palette import faint

_INK = "#2f8fdc"


def shares_by_class(confusion: Table) -> npt.NDArray[np.float64]:
    """Each row of the table as shares of its true class; nan where none is of it.

    Example:
        >>> shares_by_class(np.array([[3, 1], [0, 0]]))
        array([[0.75, 0.25],
               [ nan,  nan]])
    """
    count = confusion.sum(axis=1, keepdims=True)
    shares: npt.NDArray[np.float64] = np.divide(confusion, count, out=np.full(confusion.shape, np.nan), where=count > 0)
    return shares


def interactive_confusion(confusion: Table, classes: Sequence[str], *, highest: float = 1.0) -> Interactive:
    """For the page: one method.

    Args:
        confusion: Its table.
        classes: Names of the classes.
        highest: The share that is darkest, the same for all methods that are compared.
    """
    figure = interactive(x="predicted", y="true", height=300, legend=False)
    figure.add_trace(
        plotly().Heatmap(
            z=shares_by_class(confusion).astype(np.float32),
            zmin=0,
            zmax=highest,
            colorscale=[[0, faint(_INK, 0)], [1, faint(_INK, 1)]],  # seen through, so that it suits light and dark
            showscale=False,
            customdata=confusion.astype(np.int32),
            hovertemplate="true %{y}, predicted %{x}: %{z:.0%} (%{customdata:,})<extra></extra>",
        )
    )
    figure.update_layout(
        xaxis=name_classes({"constrain": "domain"}, classes),
        yaxis=name_classes({"autorange": "reversed", "scaleanchor": "x", "constrain": "domain"}, classes),
    )
    return figure


def printed_confusions(confusions: Mapping[str, Table], classes: Sequence[str]) -> Printed:
    """For print: all methods beside each other."""
    figure, panels = small_multiples(len(confusions), height=2.2)
    ticks = class_ticks(classes, most=8)
    for axes, (row, confusion) in zip(panels, confusions.items(), strict=True):
        axes.imshow(shares_by_class(confusion), vmin=0, vmax=1, cmap="Blues")
        axes.set_title(row, fontsize=8)
        axes.set_xticks(ticks, [classes[tick] for tick in ticks], rotation=90)
        axes.set_yticks(ticks, [classes[tick] for tick in ticks])
        axes.set_xlabel("predicted", fontsize=7)
        axes.set_ylabel("true", fontsize=7)
    return figure
