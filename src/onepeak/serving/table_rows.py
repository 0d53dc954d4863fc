"""Turns any form of table into the columns and codes a model was trained on."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from torch import Tensor

from onepeak._core.imports import Frame, require
from onepeak._core.wording import counted, did_you_mean_file, listed
from onepeak.data.manifest import FeatureRows
from onepeak.data.tables.cells import columns_with_points, names_of, texts_of
from onepeak.data.tables.columns import repeated
from onepeak.data.tables.encode import encode_like
from onepeak.data.tables.read import CSV_SUFFIXES, PARQUET_SUFFIXES, read_table
from onepeak.data.texts import encode_texts
from onepeak.errors import InputError
from onepeak.posterior.predictions import SourceName, Unlike
from onepeak.serving.output import PassthroughColumns, passthrough_columns
from onepeak.training.table_encoder import TableEncoder

NO_VALUE = (
    "it has no value in any column of the model (names that the model has not seen do not count), so that the "
    "prediction would say nothing about it"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class TableRows:
    """Rows ready for a model, and how messages name them."""

    rows: FeatureRows
    sources: tuple[str | int, ...]
    """The identifier of each row; see `source_name`."""
    source_name: SourceName
    unlike: tuple[Unlike, ...]
    """The columns in which each row is unlike the training: numbers far outside its range, and new names."""
    read_notes: tuple[str, ...] = ()
    """Notes of the reader, as on decimal commas and names that the model has not seen."""
    errors: dict[int, str] = field(default_factory=dict)
    """What is wrong with rows that cannot be read, by position; their values are meaningless."""
    empty: frozenset[int] = frozenset()
    """The positions of readable rows without a value in any column, which have no prediction either."""
    passthrough: PassthroughColumns | None = None
    """Columns to copy into the output."""

    @cached_property
    def unanswered(self) -> dict[int, str]:
        """Why rows have no prediction, by position: they cannot be read, or have no value in any column."""
        return {**self.errors, **dict.fromkeys(self.empty, NO_VALUE)}

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the reader, on values that are filled in, on rows that lack most values, and that have none."""
        shares = np.isnan(self.rows.values).mean(axis=1)
        shares[list(self.unanswered)] = 0
        notes = list(self.read_notes)
        if some := int((shares > 0).sum()):
            notes.append(f"missing values in {some:,} of {counted(len(shares), 'row')}, filled in as in training")
        for places, what in (
            (np.flatnonzero(shares > 0.5).tolist(), "with less than half of the values"),
            (sorted(self.empty), "without any value"),
        ):
            if places:
                names = listed(self.sources[place] for place in places)
                notes.append(f"{counted(len(places), 'row')} {what}: {self.source_name} {names}")
        return tuple(notes)


def rows_of(inputs: object, encoder: TableEncoder, *, decimal: str | None = None) -> TableRows:
    """Returns the rows of any form of table by the columns and codes of the encoder; an error names the first bad row.

    Columns that the model does not know are ignored; an array has the model's columns in their order.
    """
    if isinstance(inputs, str | Path):
        table = rows_of_file(Path(inputs), encoder, decimal=decimal)
    elif decimal is not None:
        raise InputError(f"`decimal` has no effect for inputs that are not a CSV file, got {type(inputs).__name__}.")
    else:
        table = rows_of_frame(_frame(inputs, encoder), encoder)
    if reasons := table.unanswered:
        first = min(reasons)
        more = f" ({counted(len(reasons) - 1, 'more row')} without)" if len(reasons) > 1 else ""
        raise InputError(
            f"{table.source_name} {table.sources[first]} of the inputs has no prediction: {reasons[first]}{more}."
        )
    return table


def rows_of_frame(frame: Frame, encoder: TableEncoder) -> TableRows:
    """Reads the rows of a pandas DataFrame that has the model's columns, including empty rows."""
    if not len(frame):
        raise InputError("`inputs` must have at least one row, got none.")
    if twice := repeated([str(name) for name in frame.columns if name in encoder.given_columns]):
        raise InputError(f"`inputs` must have every column once, got {listed(twice)} more than once.")
    rows, notes, wrong = encode_like(frame, columns=encoder.plain_columns, categories=encoder.categories)
    errors: dict[int, str] = {}
    new = _new_names(frame, rows)
    if encoder.texts is not None:
        column = encoder.texts.column
        if column not in frame.columns:
            raise InputError(f"The table must have the column of texts {column!r}, it has {listed(frame.columns)}.")
        texts = texts_of(frame[column])
        errors |= {row: f"`{column}` must be a text, got none" for row, text in enumerate(texts) if not text}
        rows = encode_texts(rows, texts, encoder.texts)
        new = np.pad(new, ((0, 0), (0, len(rows.columns) - new.shape[1])))
    for cells in wrong.values():
        errors |= {row: f"{errors[row]}; {fault}" if row in errors else fault for row, fault in cells.items()}
    return TableRows(
        rows=rows,
        sources=tuple(frame.index.tolist()),
        source_name="row",
        read_notes=notes,
        unlike=unlike_rows(rows, encoder, new=new),
        errors=errors,
        empty=frozenset(np.flatnonzero(np.isnan(rows.values).all(axis=1)).tolist()).difference(errors),
    )


def rows_of_file(
    path: Path,
    encoder: TableEncoder,
    *,
    keep: Sequence[str] = (),
    decimal: str | None = None,
    encoding: str | None = None,
    missing: Collection[str] = (),
) -> TableRows:
    """Reads the rows of a CSV or parquet file; bad rows are listed in `errors`, and the others are read."""
    if path.is_dir() or (path.exists() and path.suffix.lower() not in (*CSV_SUFFIXES, *PARQUET_SUFFIXES)):
        found = "a folder" if path.is_dir() else "another file"
        raise InputError(f"This model reads rows of a table, from a CSV or parquet file, got {found}: {path}.")
    if not path.is_file():
        raise InputError(f"There is no file {path}; this model reads a table, CSV or parquet.{did_you_mean_file(path)}")
    table = read_table(path, empty=True, decimal=decimal, encoding=encoding, missing=missing)
    numbers = [name for name in encoder.plain_columns if name not in encoder.categories]
    pointed, with_commas = columns_with_points(table.frame, numbers, commas=table.commas)
    read = rows_of_frame(pointed, encoder)
    misfits = {place: table.misfits[row] for place, row in enumerate(read.sources) if row in table.misfits}
    return replace(
        read,
        read_notes=(*with_commas, *read.read_notes),
        source_name="line" if path.suffix.lower() in CSV_SUFFIXES else "row",
        errors=read.errors | misfits,
        empty=read.empty.difference(misfits),
        passthrough=passthrough_columns(table.frame, keep) if keep else None,
    )


def unlike_rows(
    rows: FeatureRows, encoder: TableEncoder, *, new: npt.NDArray[np.bool_] | None = None
) -> tuple[Unlike, ...]:
    """Returns the columns in which each row is unlike the training rows.

    Example:
        >>> encoder = TableEncoder.learn(FeatureRows(columns=("age", "size"), values=np.array([[40.0, 1], [60, 2]])))
        >>> unlike_rows(FeatureRows(columns=("age", "size"), values=np.array([[50.0, 1], [999, -9]])), encoder)
        ((), ('age', 'size'))
    """
    found = encoder.far_outside(rows)
    if new is not None:
        found |= new
    names: list[Unlike] = [() if encoder.lowest else None] * len(rows)
    for place in np.flatnonzero(found.any(axis=1)).tolist():
        names[place] = tuple(rows.columns[column] for column in np.flatnonzero(found[place]))
    return tuple(names)


def _new_names(frame: Frame, rows: FeatureRows) -> npt.NDArray[np.bool_]:
    """Marks cells whose name has no code: rows x columns."""
    new = np.zeros(rows.values.shape, dtype=np.bool_)
    for place, name in enumerate(rows.columns):
        gone = np.isnan(rows.values[:, place])
        if name in rows.categories and gone.any():
            new[gone, place] = [text is not None for text in names_of(frame[name][gone])]
    return new


def _frame(inputs: object, encoder: TableEncoder) -> Frame:
    pandas = require("pandas", extra="data", purpose="A table")
    match inputs:
        case pandas.DataFrame():
            frame: Frame = inputs
            return frame
        case Mapping():
            one_row = all(np.isscalar(value) or value is None for value in inputs.values())
            return _rows([dict(inputs)] if one_row else dict(inputs))
        case Tensor():
            return _frame(inputs.detach().cpu().numpy(), encoder)
        case np.ndarray():
            return _named(inputs, encoder)
        case [Mapping(), *_]:
            return _rows(list(inputs))
        case [str(), *_] if encoder.given_columns == encoder.named_columns and encoder.texts is not None:
            return _rows({encoder.texts.column: list(inputs)})
        case Sequence():
            return _named(np.asarray(inputs, dtype=object), encoder)
    raise InputError(
        "`inputs` must be a table: a DataFrame, a dictionary of columns, a list of rows, a CSV or parquet file, or a "
        f"2-D array, got {type(inputs).__name__}."
    )


def _rows(content: object) -> Frame:
    pandas = require("pandas", extra="data", purpose="A table")
    try:
        frame: Frame = pandas.DataFrame(content)
    except ValueError as error:  # columns of different lengths
        raise InputError(f"`inputs` must be columns of one length, or rows: {error}.") from None
    return frame


def _named(array: npt.NDArray[np.generic], encoder: TableEncoder) -> Frame:
    """Turns an array into a table. Values are identified by position alone, so their number must be right."""
    pandas = require("pandas", extra="data", purpose="A table")
    if array.ndim != 2 or array.shape[1] != len(encoder.given_columns):
        raise InputError(
            f"An array of rows must have shape (rows, {len(encoder.given_columns)}), for the columns "
            f"{listed(encoder.given_columns)}, got {array.shape}."
        )
    if encoder.named_columns and np.issubdtype(array.dtype, np.number):
        raise InputError(
            f"An array of numbers cannot hold the text that the model reads in {listed(encoder.named_columns)}: "
            "give a DataFrame, or rows with their names."
        )
    frame: Frame = pandas.DataFrame(array, columns=list(encoder.given_columns)).infer_objects()
    return frame
