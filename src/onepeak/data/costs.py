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

    `given` is a CSV file, a DataFrame, or an array or list of lists, with one row per true class and one column per
    class decided on. With names, rows and columns may be in any order; without, in that of the classes.
    """
    if given is None:
        return None
    source, cells = _cells(given)
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


def _cells(given: object) -> tuple[str, Cells]:
    """Returns what the costs come from, for messages, and the cells, with the names if there are any."""
    if isinstance(given, str | Path):
        path = expanded(given)
        if not path.is_file():
            state = "a folder" if path.is_dir() else "nothing there"
            raise InputError(f"`cost` must be a CSV file, got {path}: {state}.{did_you_mean_file(path)}")
        return str(given), [[cell.strip() for cell in row] for row in csv_rows(path)[1]]
    if hasattr(given, "columns") and hasattr(given, "index"):
        values, index, columns = np.asarray(given).tolist(), list(given.index), list(given.columns)
        if index != list(range(len(index))) or columns != list(range(len(columns))):  # not only numbered by pandas
            values = [["", *columns], *([name, *row] for name, row in zip(index, values, strict=True))]
        return "the DataFrame", values
    try:
        array: npt.NDArray[np.float64] = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2:
        raise InputError(
            "`cost` must be a table of numbers: a CSV file, a DataFrame or an array of classes x classes, got "
            f"{type(given).__name__}."
        )
    return "the array", array.tolist()


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
