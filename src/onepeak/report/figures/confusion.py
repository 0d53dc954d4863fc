"""What each true class is taken for."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from onepeak.report.figures.canvas import (
    FEW_CLASSES,
    Interactive,
    Looks,
    Printed,
    PrintedAxes,
    class_axis,
    class_ticks,
    in_print,
    interactive,
    legend_below,
    name_ticks,
    on_page,
    printed,
    small_multiples,
)
from onepeak.report.palette import faint

Table = npt.NDArray[np.int64]
"""How often each true class (rows) was given each label (columns)."""


def errors_by_class(confusion: Table) -> npt.NDArray[np.float64]:
    """The mean absolute error of each true class, in classes; nan where none is of it.

    Example:
        >>> errors_by_class(np.array([[3, 1], [0, 0]]))
        array([0.25,  nan])
    """
    classes = np.arange(len(confusion))
    with np.errstate(invalid="ignore"):
        errors: npt.NDArray[np.float64] = (confusion * np.abs(classes - classes[:, None])).sum(axis=1) / confusion.sum(
            axis=1
        )
    return errors


def interactive_class_errors(confusions: Mapping[str, Table], classes: Sequence[str], looks: Looks) -> Interactive:
    """For the page: a line for each row over the classes."""
    figure = interactive(x="true class", y="mean absolute error")
    figure.update_layout(xaxis=class_axis(classes))
    for row, confusion in confusions.items():
        look = looks[row]
        figure.add_scatter(
            x=np.arange(len(classes)),
            y=errors_by_class(confusion).astype(np.float32),
            mode="lines+markers" if len(classes) <= FEW_CLASSES else "lines",
            line=on_page(look, 2),
            marker={"symbol": look.symbol, "size": 7},
            name=row,
            text=[f"{name}, {count:,} predictions" for name, count in zip(classes, confusion.sum(1), strict=True)],
            hovertemplate="%{text}: %{y:.2f}",
        )
    return figure


def printed_class_errors(confusions: Mapping[str, Table], classes: Sequence[str], looks: Looks) -> Printed:
    """For print."""
    figure, (axes,) = printed(height=3.0, x="true class", y="MAE")
    for row, confusion in confusions.items():
        look = looks[row]
        axes.plot(
            errors_by_class(confusion),
            **in_print(look, 1.1),
            marker="o" if len(classes) <= FEW_CLASSES else "",
            markersize=3,
            label=row,
        )
    legend_below(figure, axes)
    name_ticks(figure, [axes], classes)
    return figure


_INK = "#2f8fdc"
_ON_INK = "#101418"
"""Of numbers on cells that are nearly or wholly of that ink: on a light and on a dark page."""
_FULL = 0.85
"""From this share of the darkest on a cell is that; below it, the page's own colour of text is readable on both."""


def shares_by_class(confusion: Table) -> npt.NDArray[np.float64]:
    """Each row of the table as shares of its true class; nan where none is of it.

    Example:
        >>> shares_by_class(np.array([[3, 1], [0, 0]]))
        array([[0.75, 0.25],
               [ nan,  nan]])
    """
    with np.errstate(invalid="ignore"):
        shares: npt.NDArray[np.float64] = confusion / confusion.sum(axis=1, keepdims=True)
    return shares


def has_numbers(num_classes: int) -> bool:
    """Whether there is room for a number in every cell."""
    return num_classes <= FEW_CLASSES


def percent_text(share: float) -> str:
    """What a cell says; nothing where it never happened, or where no sample is of the class.

    Example:
        >>> [percent_text(share) for share in (0.0, 0.004, 0.375, 1.0, np.nan)]
        ['', '<1', '38', '100', '']
    """
    if not share > 0:
        return ""
    return "<1" if share < 0.01 else f"{100 * share:.0f}"


def interactive_confusion(confusion: Table, classes: Sequence[str], *, highest: float = 1.0) -> Interactive:
    """For the page: one method."""
    figure = interactive(x="predicted", y="true", height=300, legend=False)
    figure.add_heatmap(
        z=shares_by_class(confusion).astype(np.float32),
        zmin=0,
        zmax=highest,
        colorscale=[[0, faint(_INK, 0)], [1, faint(_INK, 1)]],  # seen through, so that it suits light and dark
        showscale=False,
        customdata=confusion.astype(np.int32),
        hovertemplate="true %{y}, predicted %{x}: %{z:.0%} (%{customdata:,})<extra></extra>",
    )
    if has_numbers(len(classes)):
        _add_numbers(figure, shares_by_class(confusion), highest)
    axis = class_axis(classes, constrain="domain", showgrid=not has_numbers(len(classes)))
    figure.update_layout(xaxis=axis, yaxis={**axis, "range": axis["range"][::-1], "scaleanchor": "x"})
    return figure


def _add_numbers(figure: Interactive, shares: npt.NDArray[np.float64], highest: float) -> None:
    """The numbers in the cells: those on full ink, and the others in the page's colour of text."""
    size = 12 if len(shares) <= FEW_CLASSES // 2 else 9
    on_ink = shares >= _FULL * highest
    for chosen, font in ((on_ink, {"size": size, "color": _ON_INK}), (~on_ink, {"size": size})):
        rows, columns = np.nonzero(chosen & (shares > 0))
        if len(rows):
            text = [percent_text(share) for share in shares[rows, columns]]
            figure.add_scatter(x=columns, y=rows, text=text, mode="text", textfont=font, hoverinfo="skip")


def printed_confusions(confusions: Mapping[str, Table], classes: Sequence[str]) -> Printed:
    """For print: all methods beside each other."""
    figure, panels = small_multiples(len(confusions), height=2.2)
    ticks = class_ticks(classes, most=8)
    for axes, (row, confusion) in zip(panels, confusions.items(), strict=True):
        shares = shares_by_class(confusion)
        axes.imshow(shares, vmin=0, vmax=1, cmap="Blues")
        if has_numbers(len(classes)):
            _print_numbers(axes, shares)
        axes.set_title(row, fontsize=8)
        axes.set_yticks(ticks, [classes[tick] for tick in ticks])
        axes.set_xlabel("predicted", fontsize=7)
        axes.set_ylabel("true", fontsize=7)
    name_ticks(figure, panels, classes, most=8)
    return figure


def _print_numbers(axes: PrintedAxes, shares: npt.NDArray[np.float64]) -> None:
    size = 6.5 if len(shares) <= FEW_CLASSES // 2 else 4.5
    for (row, column), share in np.ndenumerate(shares):
        colour = "white" if share > 0.65 else "black"
        axes.text(column, row, percent_text(share), ha="center", va="center", fontsize=size, color=colour)
