"""Columns of a table or list that are copied unchanged into the output: an id, the patient, the true label."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from onepeak._core.imports import Frame, require
from onepeak._core.registry import unknown_name

Cell: TypeAlias = str | int | float | bool | None
"""A value that both CSV and JSON can hold."""
RowT = TypeVar("RowT")


@dataclass(frozen=True, kw_only=True)
class PassthroughColumns:
    """Selected columns, as rows."""

    names: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """One per sample, in the order of the samples."""


def passthrough_columns(frame: Frame, keep: Sequence[str]) -> PassthroughColumns:
    """Returns the named columns, unchanged.

    Args:
        frame: A table; the text of a file is not converted.
        keep: Column names, each possibly several separated by commas. A column whose own name contains a comma is that
            column.

    Example:
        >>> import pandas
        >>> table = pandas.DataFrame({"id": ["007", ""], "age": [61.0, 58.0], "ward": ["A", "B"]})
        >>> passthrough_columns(table, ["id,age"])
        PassthroughColumns(names=('id', 'age'), rows=(('007', 61.0), (None, 58.0)))
        >>> passthrough_columns(table, ["wrad"])
        Traceback (most recent call last):
        onepeak.errors.UnknownNameError: Unknown `--keep` column 'wrad'. Did you mean 'ward'? Known: id, age, ward.
    """
    columns = {str(name): name for name in frame.columns}
    wanted = [name for each in keep for name in ([each] if each in columns else each.split(","))]
    names = tuple(dict.fromkeys(name if name in columns else name.strip() for name in wanted))
    for name in names:
        if name not in columns:
            raise unknown_name("`--keep` column", name, columns)
    cells = [[_cell(value) for value in frame[columns[name]].tolist()] for name in names]
    return PassthroughColumns(names=names, rows=tuple(zip(*cells, strict=True)) if cells else ((),) * len(frame))


def beside(rows: Iterable[RowT], passthrough: PassthroughColumns | None) -> Iterator[tuple[RowT, tuple[Cell, ...]]]:
    """Pairs each row with its kept cells."""
    return ((row, ()) for row in rows) if passthrough is None else zip(rows, passthrough.rows, strict=True)


def _cell(value: object) -> Cell:
    pandas = require("pandas", extra="data", purpose="A table")
    if pandas.api.types.is_scalar(value) and (pandas.isna(value) or value == ""):
        return None
    if isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):  # JSON has no infinity
        return value
    return str(value)
