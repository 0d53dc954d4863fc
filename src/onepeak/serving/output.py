"""Writes rows of predictions to a file, one by one as they come, beside columns of the input that are copied."""

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from onepeak._core.imports import Frame, require
from onepeak._core.registry import unknown_name
from onepeak.errors import InputError
from onepeak.posterior.predictions import Row, SourceName, unlike_text
from onepeak.serving.actions import Unsure, action_of

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
    """Returns the named columns, unchanged; a name may be several with commas between, unless a column is called so.

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


_BEFORE = (
    "headline",
    "predicted_class",
    "predicted_index",
    "name",
    "label",
    "lower_name",
    "upper_name",
    "lower",
    "upper",
)
"""Classes come before their positions: who reads the first column after the path reads a class."""
_AFTER = ("soi", "unimodal", "paradoxical", "unlike", "distance", "refer", "error")
"""Fields of a row: in JSON the posterior precedes these, in CSV it comes last, one column per class."""


@runtime_checkable
class TextSink(Protocol):
    """The part of a file object that writing rows needs."""

    def write(self, text: str, /) -> int:
        """Writes some text."""

    def flush(self) -> None:
        """Flushes buffered text."""


@dataclass(frozen=True, kw_only=True)
class OutputColumns:
    """The columns to write for every prediction; refuses kept columns whose names collide with those of predictions."""

    source_name: SourceName
    """How a sample is identified."""
    classes: tuple[str, ...]
    """The classes in order, for the probability columns."""
    passthrough: PassthroughColumns | None = None
    """Columns of the input to copy."""
    actions: tuple[str, ...] = ()
    """The action for each class; empty leaves the column out."""
    unsure: Unsure = "highest"
    """What is done where the interval holds several classes; see `onepeak.serving.actions.action_of`."""

    def __post_init__(self) -> None:
        own = {self.source_name, *self.first, "probs", "log_probs", *_AFTER, *self.posterior}
        for name in self.kept_names:
            if name in own:
                raise InputError(
                    f"`--keep` must name columns whose names differ from those of the predictions, got {name!r}: "
                    f"rename it in the file, for example to {f'given_{name}'!r}."
                )

    @property
    def kept_names(self) -> tuple[str, ...]:
        """The names of the copied columns."""
        return self.passthrough.names if self.passthrough else ()

    @property
    def first(self) -> tuple[str, ...]:
        """The columns before the posterior."""
        return (*_BEFORE, *(("action",) if self.actions else ()))

    @property
    def posterior(self) -> list[str]:
        """The columns of probabilities and their logarithms."""
        return [f"{number}_{name}" for number in ("p", "log_prob") for name in self.classes]

    def values(self, row: Row) -> dict[str, Any]:
        """All values of a row, by column."""
        action = action_of(row, self.actions, unsure=self.unsure) if self.actions else None
        former = {"headline": row.headline, "name": row.predicted_class, "label": row.predicted_index}
        return {**vars(row), **former, "action": action}


_FORMULA = re.compile(r"[=@]|[+-].*[|(]")


def harmless(cell: Any) -> Any:
    """Returns a cell with an apostrophe before what a spreadsheet would compute or run.

    Example:
        >>> harmless("=cmd|calc"), harmless("-1"), harmless("+1 (or more)"), harmless(0.5)
        ("'=cmd|calc", '-1', "'+1 (or more)", 0.5)
    """
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def write_csv(rows: Iterable[Row], file: TextSink, columns: OutputColumns) -> None:
    """Writes a header and one line per row; missing values are empty, formulas of a spreadsheet are made text.

    Example:
        >>> import sys
        >>> columns = OutputColumns(source_name="path", classes=("low", "high"))
        >>> write_csv([Row(source="a.png", error="empty")], sys.stdout, columns)
        path,headline,predicted_class,predicted_index,name,label,lower_name,upper_name,lower,upper,soi,unimodal,paradoxical,unlike,distance,refer,error,p_low,...
        a.png,,,,,,,,,,,,,,,,empty,,,,
    """
    writer = csv.writer(file, lineterminator="\n")
    answer = (*columns.first, *_AFTER)
    writer.writerow([columns.source_name, *columns.kept_names, *answer, *columns.posterior])
    none = (None,) * len(columns.classes)
    for row, cells in beside(rows, columns.passthrough):
        values = {**columns.values(row), "unlike": unlike_text(row.unlike)}
        posterior = (*(row.probs or none), *(row.log_probs or none))
        known = (row.source, *cells, *(values[name] for name in answer))
        writer.writerow([*map(harmless, known), *posterior])
        file.flush()


def write_json_lines(rows: Iterable[Row], file: TextSink, columns: OutputColumns) -> None:
    """Writes one object per line. JSON has no infinity: the logarithm of a zero probability is null.

    Example:
        >>> import sys
        >>> row = Row(source=2, predicted_class="low", predicted_index=0, log_probs=(0.0, float("-inf")), soi=1.0)
        >>> write_json_lines([row], sys.stdout, OutputColumns(source_name="line", classes=("low", "high")))
        {"line": 2, "headline": "low", ... "probs": [1.0, 0.0], "log_probs": [0.0, null], "soi": 1.0, ...}
    """
    answer = (*columns.first, "probs", "log_probs", *_AFTER)
    for row, cells in beside(rows, columns.passthrough):
        values = {**columns.values(row), "probs": row.probs, "log_probs": row.finite_log_probs}
        passthrough = dict(zip(columns.kept_names, cells, strict=True))
        record = {columns.source_name: row.source, **passthrough, **{name: values[name] for name in answer}}
        file.write(json.dumps(record, allow_nan=False) + "\n")
        file.flush()
