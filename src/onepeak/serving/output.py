"""Writes rows of predictions to a file, one by one as they come."""

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from onepeak.errors import InputError
from onepeak.serving.passthrough_columns import PassthroughColumns, beside
from onepeak.serving.prediction import Row, SourceName, unlike_text

_BEFORE = ("name", "label", "lower_name", "upper_name", "lower", "upper")
"""Classes come before their positions: who reads the first column after the path reads a class."""
_AFTER = ("soi", "unimodal", "paradoxical", "unlike", "error")
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
    """The action for each class, to write that of the predicted class; empty leaves the column out."""

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
        action = None if row.label is None or not self.actions else self.actions[row.label]
        return {**vars(row), "action": action}


def write_csv(rows: Iterable[Row], file: TextSink, columns: OutputColumns) -> None:
    """Writes a header and one line per row; missing values are empty.

    Args:
        rows: Consumed as they come.
        file: Flushed after every row, so that a reader gets each row at once.
        columns: What to write.

    Example:
        >>> import sys
        >>> columns = OutputColumns(source_name="path", classes=("low", "high"))
        >>> write_csv([Row(source="a.png", error="empty")], sys.stdout, columns)
        path,name,label,lower_name,upper_name,lower,upper,soi,unimodal,paradoxical,unlike,error,p_low,...
        a.png,,,,,,,,,,,empty,,,,
    """
    writer = csv.writer(file, lineterminator="\n")
    answer = (*columns.first, *_AFTER)
    writer.writerow([columns.source_name, *columns.kept_names, *answer, *columns.posterior])
    none = (None,) * len(columns.classes)
    for row, cells in beside(rows, columns.passthrough):
        values = {**columns.values(row), "unlike": unlike_text(row.unlike)}
        posterior = (*(row.probs or none), *(row.log_probs or none))
        writer.writerow([row.source, *cells, *(values[name] for name in answer), *posterior])
        file.flush()


def write_json_lines(rows: Iterable[Row], file: TextSink, columns: OutputColumns) -> None:
    """Writes one object per line. JSON has no infinity: the logarithm of a zero probability is null.

    Args:
        rows: Consumed as they come.
        file: Flushed after every row.
        columns: What to write.

    Example:
        >>> import sys
        >>> row = Row(source=2, label=0, name="low", log_probs=(0.0, float("-inf")), soi=1.0, unimodal=True)
        >>> write_json_lines([row], sys.stdout, OutputColumns(source_name="line", classes=("low", "high")))
        {"line": 2, "name": "low", "label": 0, ... "probs": [1.0, 0.0], "log_probs": [0.0, null], "soi": 1.0, ...}
    """
    answer = (*columns.first, "probs", "log_probs", *_AFTER)
    for row, cells in beside(rows, columns.passthrough):
        values = {**columns.values(row), "probs": row.probs, "log_probs": row.finite_log_probs}
        passthrough = dict(zip(columns.kept_names, cells, strict=True))
        record = {columns.source_name: row.source, **passthrough, **{name: values[name] for name in answer}}
        file.write(json.dumps(record, allow_nan=False) + "\n")
        file.flush()
