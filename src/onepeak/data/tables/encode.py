"""Encodes the columns of a table as numbers; leaves some out, with a note.

What a network gets of them, standardised, is in `onepeak.training.table_encoder`.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from onepeak._core.imports import Column, Frame
from onepeak._core.wording import counted, listed
from onepeak.data.images.folder import IMAGE_SUFFIXES, names_images
from onepeak.data.manifest import FeatureRows
from onepeak.data.tables.cells import (
    PLAIN,
    categories_of,
    fault_of_text,
    is_formatted,
    kind_of,
    names_of,
    number_cells,
    plain_integer,
)
from onepeak.data.tables.faults import CORRECT, Fault, shown_cells
from onepeak.errors import InputError

_FEW = 10
"""In a table with at most this many rows, any column can look like an identifier."""
_DATE = re.compile(
    r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4}|\d{1,2}/\d{1,2}/\d{2})"
    r"(?:[T ]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?(?:Z| ?[+-]\d{2}:?\d{2})?)?"
)
"""2024-03-01, 01.03.2024 or 3/1/24, with or without a time."""


def feature_faults(frame: Frame) -> list[Fault]:
    """Finds columns of unsupported types, formatted numbers, and numbers that float32 cannot hold."""
    faults: list[Fault | None] = []
    for name in frame.columns:
        column = frame[name]
        try:
            if kind_of(column) == "number":
                faults += [cell_fault(column, wrong)] if (wrong := number_cells(column)[1]) else []
            elif getattr(column.dtype, "categories", None) is None:  # declared categories are names
                faults.append(fault_of_text(column, names_of(column)))
        except InputError as error:
            faults.append(Fault(sentence=str(error).removesuffix(".")))
    return [fault for fault in faults if fault is not None]


def cell_fault(column: Column, wrong: Iterable[int]) -> Fault:
    """Describes cells that are not usable numbers."""
    written = column.tolist()
    cells = {index: written[index] for index in sorted(wrong)}
    has = f"{counted(len(cells), 'row')} {'has' if len(cells) == 1 else 'have'} none"
    return Fault(
        indices=tuple(cells),
        sentence=f"The column {column.name!r} must be finite numbers that fit into float32, {has}: "
        f"{shown_cells(column, cells)}",
        advice=PLAIN if any(is_formatted(str(cell)) for cell in cells.values()) else CORRECT,
        reason=f"no usable number in {column.name!r}",
    )


def encode_features(
    frame: Frame, *, positions: Sequence[int] | None = None, named: Collection[str] = ()
) -> tuple[FeatureRows, tuple[str, ...]]:
    """Encodes numbers as float64, booleans as 0 and 1, text and categories as codes, missing values as NaN.

    Left out, with a note: text that differs in more than half of the rows (an identifier or free text), dates as text,
    and a column that only counts the rows (an index saved by accident, which reveals the label in a sorted table).
    `positions` are those of the rows in the original table, if some were left out; columns in `named` are declared to
    hold names and always kept.
    """
    kinds = {name: "category" if name in named else kind_of(frame[name]) for name in frame.columns}
    texts = [name for name, kind in kinds.items() if kind == "category" and name not in named]
    dates = [name for name in texts if is_date(frame[name])]
    unique = [name for name in texts if name not in dates and _is_identifier(frame[name])]
    lines = np.arange(len(frame)) if positions is None else np.asarray(positions)
    counting = [name for name, kind in kinds.items() if kind == "number" and _counts_the_rows(frame[name], lines)]
    for name in unique:
        cells = frame[name].dropna().astype(str)
        if cells.str.lower().str.endswith(tuple(IMAGE_SUFFIXES)).mean() > 0.5:
            raise names_images(name, cells.iloc[0])
    notes = [
        f"left out, as {why.format(listed(name or '(no name)' for name in names))}"
        for names, why in (
            (unique, "text that hardly repeats: {}; if one of them names images, give it as `path` (--path COLUMN)"),
            (dates, "dates: {}; to use them, add what matters as numbers: year, month, age in days"),
            (counting, "a count of the rows: {}"),
        )
        if names
    ]
    columns = [name for name in kinds if name not in {*unique, *dates, *counting}]
    if not columns:
        why = f": {'; '.join(notes)}" if notes else ""
        raise InputError(f"A table must have a column that is a feature, it has none{why}.")
    categories = {name: categories_of(frame[name]) for name in columns if kinds[name] == "category"}
    rows, _, _ = encode_like(frame, columns=columns, categories=categories)
    return rows, (*notes, *kinds_of(rows), *odd_values(rows))


def encode_like(
    frame: Frame, *, columns: Sequence[str], categories: Mapping[str, Sequence[str]]
) -> tuple[FeatureRows, tuple[str, ...], dict[str, dict[int, str]]]:
    """Encodes a table with the columns and codes of another one, such as the training table.

    Other columns are ignored, and so are spaces around a name; numbers may be text, as in a file. A name without a code
    becomes NaN, with a note; `1.0` and `1` match each other if only one of them is known. Also returns a message for
    each cell that should be a number and is not, by column and position.
    """
    gone = [name for name in columns if name not in frame.columns]
    if gone:
        raise InputError(f"The table must have the columns {listed(columns)}, it lacks {listed(gone)}.")
    notes, wrong = list[str](), dict[str, dict[int, str]]()
    values = np.empty((len(frame), len(columns)), dtype=np.float64)
    for position, name in enumerate(columns):
        if name in categories:
            exact = {text: code for code, text in enumerate(categories[name])}
            codes = {plain_integer(text): code for text, code in exact.items()} | exact
            texts = [text if text is None or text in codes else plain_integer(text) for text in names_of(frame[name])]
            new = sorted({text for text in texts if text is not None and text not in codes})
            if new:
                names = f"{counted(len(new), 'name')} of the column {name!r}"
                notes.append(f"{names} not seen in training, taken as missing: {listed(new)}")
            values[:, position] = [np.nan if text is None else codes.get(text, np.nan) for text in texts]
        else:
            values[:, position], cells = number_cells(frame[name])
            if cells:
                wrong[name] = cells
    named = {name: tuple(categories[name]) for name in columns if name in categories}
    return FeatureRows(columns=tuple(columns), values=values, categories=named), tuple(notes), wrong


def _is_identifier(column: Column) -> bool:
    present = [name for name in names_of(column) if name is not None]
    return len(present) > _FEW and len(set(present)) > len(present) // 2


def is_date(column: Column) -> bool:
    """Whether at least 90 % of the texts are dates, however few rows there are."""
    texts = [name for name in names_of(column) if name is not None]
    return 10 * sum(_DATE.fullmatch(text) is not None for text in texts) >= 9 * max(len(texts), 1)


def _counts_the_rows(column: Column, positions: npt.NDArray[np.int64]) -> bool:
    if len(column) <= _FEW or column.isna().any():
        return False
    first = column.to_numpy(dtype=np.float64) - positions
    return bool(first[0] in (0, 1) and (first == first[0]).all())


_ROWS_PER_NAME = 10
"""With fewer rows per integer, a column is not suspected to hold names."""
_MANY = 50
"""From this many integers on, all different, a column may be an id."""


def kinds_of(rows: FeatureRows) -> tuple[str, ...]:
    """Returns notes on which columns are numbers, which are categories, and which numbers may be names or ids.

    A column may hold names if it has 3 to 10 different integers, each in 10 rows on average (with two values, both
    readings are equivalent). It may hold ids if all its integers differ and they are many or rise in equal steps.
    """
    numbers = [name for name in rows.columns if name not in rows.categories]
    few, ids = [], []
    for name, values in zip(rows.columns, rows.values.T, strict=True):
        known = values[~np.isnan(values)]
        if name in rows.categories or (known % 1 != 0).any():
            continue
        count = len(np.unique(known))
        if count == len(known) > _FEW and (count >= _MANY or len(np.unique(np.diff(known))) == 1):
            ids.append(name)
        if 2 < count <= min(_FEW, len(known) // _ROWS_PER_NAME):
            few.append(f"{name} ({count})")
    sentences = [
        (numbers, "read as numbers: {}"),
        (rows.categories, "read as categories: {}"),
        (few, "few different integers in {}: if they are names, say so with `category` (--category COLUMN)"),
        (ids, "a different value in every row, as ids have, in {}: leave ids out with `drop` (--drop COLUMN)"),
    ]
    return tuple(sentence.format(listed(names)) for names, sentence in sentences if names)


def odd_values(rows: FeatureRows) -> tuple[str, ...]:
    """Returns notes on columns without information, on missing values and on repeated rows."""
    missing: npt.NDArray[np.bool_] = np.isnan(rows.values)
    empty = missing.all(axis=0)
    first = rows.values[np.argmin(missing, axis=0), np.arange(len(rows.columns))]
    constant = (missing | (rows.values == first)).all(axis=0) & ~empty
    sentences = []
    for mask, what in (
        (empty, f"{counted(int(empty.sum()), 'column')} without any value: "),
        (constant, f"{counted(int(constant.sum()), 'column')} with one value only: "),
        (missing.any(axis=0), f"{counted(int(missing.sum()), 'missing value')} in "),
    ):
        if mask.any():
            sentences.append(what + listed(rows.columns[position] for position in np.flatnonzero(mask)))
    if repeated := len(rows) - len({row.tobytes() for row in rows.values}):
        sentences.append(f"{counted(repeated, 'row')} with the same features as an earlier one")
    return tuple(sentences)
