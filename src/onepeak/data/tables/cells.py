"""How cells are read: the type of a column of text, names of categories, and numbers one by one."""

import re
from collections.abc import Collection, Mapping, Sequence
from types import NoneType
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak._core.imports import Column, Frame, require
from onepeak._core.wording import counted, listed
from onepeak.data.tables.faults import CORRECT, Fault, shown_cells
from onepeak.errors import InputError

Commas: TypeAlias = Literal["never", "certain", "always"]
"""When a comma in a number of a CSV is decimal: "never" if commas separate the cells; "certain", only in unambiguous
columns, if `;` or a tab separates them; "always", in all numeric columns, if the user says so."""
Kind: TypeAlias = Literal["number", "category"]

PLAIN = "Write numbers as 1234.5, or give --decimal , (`decimal`) for a CSV with decimal commas"
"""Advice for formatted numbers."""
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "?"})
"""Common spellings of a missing value, in lower case."""
_TRUTHS = {"true": 1.0, "false": 0.0}
_MANY = 20
_SLIPS = 0.1
"""Below this share of the cells, non-numbers in a column of more than `_MANY` numbers may be typing errors."""
_FEWEST_ZEROS = 0.05
"""From this share on, leading zeros of integers are not typing errors."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
"""1,234: thousands, or three decimals."""
_NUMBER = re.compile(r"[+-]?[\d.,]*\d[\d.,]*(?:[eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
"""1,234.50, 1.234,50 and 1.234.567, but not lists such as 1,2,3."""
_PERCENT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*%")
_INTEGER = re.compile(r"(-?(?:0|[1-9]\d*))(?:\.0+)?")
"""An integer, or a float such as `3.0`: a missing value turns a column of integers into floats. `007` is a name."""


def with_points(texts: Sequence[str], *, commas: Commas) -> list[str] | None:
    """Replaces the decimal commas of a column by points; returns None if its commas are not, or may not be, decimal.

    Commas are not decimal in a column where a number has a point or two commas. The comma of `1,234` may separate
    thousands: with "certain", another cell of the column must show that it is decimal, as `12,5` and `0,125` do.

    Example:
        >>> with_points(["12,5", "1,234", "7", "NA"], commas="certain")
        ['12.5', '1.234', '7', 'NA']
        >>> with_points(["1,234", "7"], commas="certain"), with_points(["1,234", "7"], commas="always")
        (None, ['1.234', '7'])
    """
    if commas == "never" or not any("," in text for text in texts):
        return None
    stripped = [text.strip() for text in texts]
    decimal = {text for text in stripped if _DECIMAL_COMMA.fullmatch(text)}
    if not decimal or (commas == "certain" and all(map(_THOUSANDS.fullmatch, decimal))):
        return None
    if any(("." in text or text.count(",") > 1) and _NUMBER.fullmatch(text) for text in stripped):
        return None
    return [text.replace(",", ".") if text in decimal else text for text in stripped]


def columns_with_points(frame: Frame, names: Collection[str], *, commas: Commas) -> tuple[Frame, tuple[str, ...]]:
    """Applies `with_points` to the numeric columns of a table of text, and returns a note on those with commas."""
    if commas == "never" or not names:
        return frame, ()
    pointed, with_commas = frame.copy(), dict[str, Sequence[str]]()
    for name in frame.columns.intersection(list(names), sort=False):
        if (plain := with_points(texts := frame[name].tolist(), commas=commas)) is not None:
            pointed[name], with_commas[name] = plain, texts
    return pointed, _comma_notes(with_commas)


def _comma_notes(columns: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Returns a note on columns, here with their cells as written, that were read with decimal commas."""
    if not columns:
        return ()
    first = next(text.strip() for text in next(iter(columns.values())) if _DECIMAL_COMMA.fullmatch(text.strip()))
    return (f"read with decimal commas: {listed(columns)} ({first} is {first.replace(',', '.')})",)


def is_formatted(text: str) -> bool:
    """Whether a text is a number formatted for people (1,234.50, 12 %), which `float` would refuse."""
    return any(pattern.fullmatch(text) for pattern in (_DECIMAL_COMMA, _GROUPED, _PERCENT))


def typed(
    frame: Frame, *, as_text: Collection[str] = (), commas: Commas = "never"
) -> tuple[Frame, tuple[Fault, ...], tuple[str, ...]]:
    """Infers the type of each column of text; returns the columns, with faulty cells empty, the faults, and notes.

    In a column of many numbers, a few other cells are a fault: otherwise one typing error would turn the numbers into
    names. Integers are names, such as `01067`, if at least one in twenty has a leading zero.
    """
    result, faults, with_commas = frame.copy(), list[Fault | None](), dict[str, list[str]]()
    for name in frame.columns.difference(list(as_text), sort=False):
        texts = frame[name].tolist()
        result[name], fault = _typed(frame[name], texts)
        if (pointed := with_points(texts, commas=commas)) is not None:
            numbers, its_fault = _typed(frame[name], pointed)
            if numbers.dtype == float:  # otherwise they are names, which stay as written
                result[name], fault, with_commas[name] = numbers, its_fault, texts
        faults.append(fault)
    return result, tuple(fault for fault in faults if fault is not None), _comma_notes(with_commas)


def _typed(column: Column, cells: Sequence[str]) -> tuple[Column, Fault | None]:
    """Returns a column with its type, and its fault; `column` has the cells as written, for messages."""
    pandas = require("pandas", extra="data", purpose="A table")
    texts = [present_text(text) for text in cells]
    values, wrong = _numbers(texts)
    numbers: Column = pandas.Series(values, index=column.index)
    names: Column = pandas.Series(texts, index=column.index, dtype=object)
    if _are_codes(texts, wrong):
        return names, None
    if not wrong:
        return numbers, None
    if (fault := _formatted(column, wrong)) is not None:
        return numbers, fault
    if len(wrong) >= _SLIPS * names.count() or numbers.nunique() <= _MANY:
        return names, None
    return numbers, Fault(
        indices=tuple(wrong),
        sentence=f"The column {column.name!r} has numbers except in {counted(len(wrong), 'row')}: "
        f"{shown_cells(column, wrong)}",
        advice=CORRECT,
        reason=f"no number in {column.name!r}",
    )


def fault_of_text(column: Column, texts: Sequence[str | None]) -> Fault | None:
    """Finds formatted numbers in a text column of a frame, which would be read as names."""
    _, wrong = _numbers(texts)
    return None if _are_codes(texts, wrong) else _formatted(column, wrong)


def _formatted(column: Column, wrong: Mapping[int, str]) -> Fault | None:
    """Returns a fault, of the whole column, if nearly all cells that are not plain numbers are formatted numbers."""
    formatted = {index: text for index, text in wrong.items() if is_formatted(text)}
    if not formatted or 10 * len(formatted) < 9 * len(wrong):
        return None
    return Fault(
        sentence=f"The column {column.name!r} has formatted numbers: {shown_cells(column, formatted)}",
        advice=f"{PLAIN}, or say with `category` (--category) that they are names",
    )


def _numbers(cells: Sequence[object]) -> tuple[npt.NDArray[np.float64], dict[int, str]]:
    """Returns the numbers, or true and false if there are none, and the texts that are neither, by position."""
    pandas = require("pandas", extra="data", purpose="A table")
    column = pandas.to_numeric(pandas.Series(cells, dtype=object), errors="coerce")
    values: npt.NDArray[np.float64] = column.to_numpy(np.float64, copy=True, na_value=np.nan)
    gone = np.isnan(values)
    written = {index: cells[index] for index in np.flatnonzero(gone).tolist()}
    wrong = {n: text for n, cell in written.items() if isinstance(cell, str) and (text := present_text(cell))}
    if gone.all():
        truths = {index: _TRUTHS[text.casefold()] for index, text in wrong.items() if text.casefold() in _TRUTHS}
        values[list(truths)] = list(truths.values())
        wrong = {index: text for index, text in wrong.items() if index not in truths}
    return values, wrong


def _are_codes(texts: Sequence[str | None], wrong: Collection[int]) -> bool:
    """Whether the numbers are names written in digits; a single leading zero among many is a typing error."""
    numbers = [text for index, text in enumerate(texts) if text is not None and index not in wrong]
    zeros = sum(text[0] == "0" and len(text) > 1 for text in numbers)
    return zeros > 0 and zeros >= _FEWEST_ZEROS * len(numbers) and all(text.isdecimal() for text in numbers)


def present_text(text: str) -> str | None:
    """Returns the text without surrounding spaces; None if it stands for a missing value."""
    stripped = text.strip()
    return None if stripped.casefold() in _MISSING else stripped


def texts_of(column: Column) -> list[str]:
    """Returns the cells as text without surrounding spaces, empty where there is none."""
    return ["" if gone else str(value).strip() for value, gone in zip(column.tolist(), column.isna(), strict=True)]


def names_of(column: Column) -> list[str | None]:
    """Returns the cells as names: text without surrounding spaces, None if missing."""
    return [None if gone else _name(value) for value, gone in zip(column.tolist(), column.isna(), strict=True)]


def categories_of(column: Column) -> tuple[str, ...]:
    """Returns the distinct names of a column, in declared order or sorted; integers are written without a point."""
    declared = getattr(column.dtype, "categories", None)
    written = names_of(column) if declared is None else map(_name, declared.tolist())
    names = [name for name in dict.fromkeys(written) if name is not None]
    if declared is None:
        names.sort()
    if all(map(_INTEGER.fullmatch, names)):
        names = list(dict.fromkeys(map(plain_integer, names)))
    return tuple(names)


def plain_integer(name: str) -> str:
    """Returns an integer without a decimal point, and any other name unchanged."""
    match = _INTEGER.fullmatch(name)
    return name if match is None else match[1]


def _name(value: object) -> str | None:
    if isinstance(value, float) and value.is_integer():
        return f"{int(value)}.0"  # without an exponent
    return present_text(str(value))


def kind_of(column: Column) -> Kind:
    """Returns the kind of a column by its type: numbers and booleans, or text and categories."""
    types = require("pandas", extra="data", purpose="A table").api.types
    dtype = column.dtype
    if types.is_bool_dtype(dtype) or (types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype)):
        return "number"
    if getattr(dtype, "categories", None) is not None:
        return "category"
    present = column.dropna()
    if present.map(lambda value: isinstance(value, str)).all():
        return "number" if present.empty else "category"
    if types.is_object_dtype(dtype) and present.map(lambda value: isinstance(value, int | float | np.number)).all():
        return "number"
    raise InputError(
        f"A feature must hold numbers, booleans, text or categories, but the column {column.name!r} holds {dtype} "
        f"such as {present.iloc[0]!r}. Convert it to one of them or leave it out (`drop`, --drop)."
    )


def number_cells(column: Column) -> tuple[npt.NDArray[np.float64], dict[int, str]]:
    """Returns the numbers in a column, NaN where there is none, and a message for each bad cell, by position."""
    written = column.tolist()
    if {*map(type, written)} <= {int, float, bool, NoneType}:  # as most often, and fast even for one row
        values, texts = np.array(written, dtype=np.float64), dict[int, str]()
    else:
        kind_of(column)  # raises for dates and other types
        values, texts = _numbers(written)
    wrong = {}
    for index, text in texts.items():
        shown = repr(text if len(text) <= 40 else text[:40] + "...")
        wrong[index] = f"`{column.name}` must be a number, got {shown}{f'. {PLAIN}' if is_formatted(text) else ''}"
    with np.errstate(over="ignore"):  # the networks use float32; values that overflow it are reported
        infinite = np.isinf(values.astype(np.float32))
    for index in np.flatnonzero(infinite).tolist():
        wrong[index] = f"`{column.name}` must be finite and fit into float32, got {written[index]}"
    values[infinite] = np.nan
    return values, wrong
