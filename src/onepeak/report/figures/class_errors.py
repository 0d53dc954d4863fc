"""Where on the scale the errors lie: the mean absolute error of each true class."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from onepeak.report.figures.canvas import (
    FEW_CLASSES,
    PRINT_DASHES,
    Interactive,
    Looks,
    Printed,
    interactive,
    legend_below,
    name_classes,
    name_ticks,
    printed,
)

Table = npt.NDArray[np.int64]
"""How often each true class (rows) was given each label (columns)."""


def errors_by_class(confusion: Table) -> npt.NDArray[np.float64]:
    """The mean absolute error of each true class, in classes; nan where none is of it.

    Example:
        >>> errors_by_class(np.array([[3, 1], [0, 0]]))
        array([0.25,  nan])
    """
    classes = np.arange(len(confusion))
    total = (confusion * np.abs(classes - classes[:, None])).sum(axis=1)
    count = confusion.sum(axis=1)
    errors: npt.NDArray[np.float64] = np.divide(total, count, out=np.full(len(confusion), np.nan), where=count > 0)
    return errors


def interactive_class_errors(confusions: Mapping[str, Table], classes: Sequence[str], looks: Looks) -> Interactive:
    """For the page: a line for each row over the classes."""
    figure = interactive(x="true class", y="mean absolute error")
    figure.update_layout(xaxis=name_classes(None, classes))
    for row, confusion in confusions.items():
        look = looks[row]
        figure.add_scatter(
            x=np.arange(len(classes)),
            y=errors_by_class(confusion).astype(np.float32),
            mode="lines+markers" if len(classes) <= FEW_CLASSES else "lines",
            line={"color": look.colour, "dash": look.dash, "width": 2},
            marker={"symbol": look.symbol, "size": 7},
            name=row,
            text=[f"{name}, {count:,} predictions" for name, count in zip(classes, confusion.sum(1), strict=True)],
            hovertemplate="%{text}: %{y:.2f}",
        )
    return figure


def printed_class_errors(confusions: Mapping[str, Table], classes: Sequence[str], looks: Looks) -> Printed:
    """For print."""
    figure, (axes,) = printed(height=3.0)
    for row, confusion in confusions.items():
        look = looks[row]
        axes.plot(
            errors_by_class(confusion),
            color=look.colour,
            linestyle=PRINT_DASHES[look.dash],
            linewidth=1.1,
            marker="o" if len(classes) <= FEW_CLASSES else "",
            markersize=3,
            label=row,
        )
    axes.set_xlabel("true class", fontsize=8)
    axes.set_ylabel("MAE", fontsize=8)
    legend_below(figure, axes)
    name_ticks(figure, [axes], classes)
    return figure
