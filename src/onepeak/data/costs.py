"""The cost of each mistake, from a CSV with or without names, an array or a DataFrame."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak._core.files import expanded
from onepeak._core.wording import did_you_mean_file, listed
from onepeak.data.order import shown_order
from onepeak.data.tables.read import csv_rows
from onepeak.errors import InputError, NotFiniteError

COST = "cost"
"""The decision that needs a cost table."""
Costs: TypeAlias = tuple[tuple[float, ...], ...]
"""One row per true class and one column per class decided on, both in the order of the model's classes."""
Cells: TypeAlias = list[list[object]]


def costs_of(given: object, classes: Sequence[str]) -> Costs | None:
    """Returns the costs in the order of the classes; None if none are given.

    Args:
        given: A CSV file, a DataFrame, or an array or list of lists, with one row per true class and one column per
            class decided on. With names, rows and columns may be in any order; without, in that of the classes.
        classes: The model's classes.

    Example:
        >>> costs_of([[0, 1], [10, 0]], ("benign", "malignant"))
        ((0.0, 1.0), (10.0, 0.0))
        >>> import pandas as pd
        >>> names = ["malignant", "benign"]
        >>> costs_of(pd.DataFrame([[0, 10], [1, 0]], index=names, columns=names), ("benign", "malignant"))
        ((0.0, 1.0), (10.0, 0.0))
    """
    if given is None:
        return None
    if isinstance(given, str | Path):
        source, cells = str(given), _cells_of_file(expanded(given))
    elif hasattr(given, "columns") and hasattr(given, "index"):
        source, cells = "the DataFrame", _cells_of_frame(given)
    else:
        source, cells = "the array", _cells_of_array(given)
    num_classes, widths = len(classes), sorted({len(row) for row in cells})
    if len(cells) not in (num_classes, num_classes + 1) or widths != [len(cells)]:
        raise InputError(
            f"`cost` must have {num_classes} rows and {num_classes} columns, one row per true class and one column per "
            f"class decided on, or one more of each with the names, got {len(cells)} rows of {listed(widths)} in "
            f"{source}."
        )
    if len(cells) > num_classes:
        cells = _sorted_by_name(cells, classes, source)
    return tuple(tuple(_number(cell, source) for cell in row) for row in cells)


def check_given_together(decide: str | None, cost: object) -> None:
    """Refuses costs that have no effect, and the decision "cost" without costs."""
    if (decide == COST) != (cost is not None):
        given = f"`decide` {decide!r} {'without' if cost is None else 'with'} `cost`"
        raise InputError(f"`cost` and `decide` {COST!r} must be given together, got {given}.")


def _cells_of_file(path: Path) -> Cells:
    if not path.is_file():
        state = "a folder" if path.is_dir() else "nothing there"
        raise InputError(f"`cost` must be a CSV file, got {path}: {state}.{did_you_mean_file(path)}")
    return [[cell.strip() for cell in row] for row in csv_rows(path)[1]]


def _cells_of_frame(frame: object) -> Cells:
    """Includes the names as first row and column, unless pandas only numbered them."""
    values = np.asarray(frame).tolist()
    index, columns = list(frame.index), list(frame.columns)  # type: ignore[attr-defined]
    if index == list(range(len(index))) and columns == list(range(len(columns))):
        return values  # type: ignore[no-any-return]
    return [["", *columns], *([name, *row] for name, row in zip(index, values, strict=True))]


def _cells_of_array(given: object) -> Cells:
    try:
        array: npt.NDArray[np.float64] = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2:
        raise InputError(
            "`cost` must be a table of numbers: a CSV file, a DataFrame or an array of classes x classes, got "
            f"{type(given).__name__}."
        )
    return array.tolist()  # type: ignore[no-any-return]


def _sorted_by_name(cells: Cells, classes: Sequence[str], source: str) -> Cells:
    """Drops the names and puts rows and columns in the order of the classes."""
    columns, rows = [str(name) for name in cells[0][1:]], [str(row[0]) for row in cells[1:]]
    for line, names in (("row", columns), ("column", rows)):
        if sorted(names) != sorted(classes):
            raise InputError(
                f"The first {line} of `cost` must name the classes, {shown_order(classes)}, got {listed(names)} in "
                f"{source}."
            )
    return [[cells[1 + rows.index(true)][1 + columns.index(decided)] for decided in classes] for true in classes]


def _number(cell: object, source: str) -> float:
    try:
        number = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(f"`cost` must hold numbers, got {cell!r} in {source}.") from None
    if not np.isfinite(number):
        raise NotFiniteError(f"`cost` must hold finite numbers, got {number} in {source}.")
    return number
