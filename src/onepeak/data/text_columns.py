"""Infers the type of columns read as text: numbers, booleans, or text."""

import math
from collections.abc import Collection, Sequence

from onepeak._extras import require
from onepeak._listing import counted
from onepeak.data.faults import CORRECT, Fault, shown_cells
from onepeak.data.frame_types import Column, Frame
from onepeak.data.written_numbers import Commas, comma_notes, formatted_fault, with_points

MISSING = frozenset({"", "na", "n/a", "nan", "null", "?"})
"""Common spellings of a missing value, in lower case."""
TRUTHS = {"true": 1.0, "false": 0.0}

_MANY = 20
_SLIPS = 0.1
"""Below this share of the cells, non-numbers in a column may be typing errors."""
_FEWEST_ZEROS = 0.05
"""From this share on, leading zeros of integers are not typing errors."""


def typed(
    frame: Frame, *, as_text: Collection[str] = (), commas: Commas = "never"
) -> tuple[Frame, tuple[Fault, ...], tuple[str, ...]]:
    """Infers the type of each column of text.

    In a column of many numbers, a few other cells are a fault: otherwise one typing error would turn the numbers into
    names. Integers are names, such as `01067`, if at least one in twenty has a leading zero.

    Args:
        frame: Columns of text.
        as_text: Columns to keep as text.
        commas: When a comma in a number is decimal.

    Returns:
        The columns, with faulty cells empty; the faults; and a note on columns with decimal commas.

    Example:
        >>> import pandas
        >>> frame, *_ = typed(pandas.DataFrame({"a": ["1", ""], "b": ["true", "false"], "c": ["x", "?"]}))
        >>> frame.to_dict("list")
        {'a': [1.0, nan], 'b': [True, False], 'c': ['x', None]}
    """
    result, faults, with_commas = frame.copy(), list[Fault | None](), dict[str, list[str]]()
    for name in frame.columns.difference(list(as_text), sort=False):
        texts = frame[name].tolist()
        result[name], fault = _typed(frame[name], texts)
        if (pointed := with_points(texts, commas=commas)) is not None:
            read, its_fault = _typed(frame[name], pointed)
            if read.dtype == float:  # otherwise they are names, which stay as written
                result[name], fault, with_commas[name] = read, its_fault, texts
        faults.append(fault)
    return result, tuple(fault for fault in faults if fault is not None), comma_notes(with_commas)


def fault_of_text(column: Column, texts: Sequence[str | None]) -> Fault | None:
    """Finds formatted numbers in a text column of a frame, which would be read as names.

    Args:
        column: The column, for its name and the names of its rows.
        texts: Its cells without surrounding spaces; None if missing.

    Example:
        >>> import pandas
        >>> cells = pandas.Series(["12 %", "7 %"], name="share")
        >>> fault_of_text(cells, cells.tolist()).sentence
        "The column 'share' has formatted numbers: '12 %' (row 0), '7 %' (row 1)"
    """
    _, wrong = _numbers(texts)
    return None if _are_codes(texts, wrong) else formatted_fault(column, wrong)


def present_text(text: str) -> str | None:
    """Returns the text without surrounding spaces; None if it stands for a missing value."""
    stripped = text.strip()
    return None if stripped.casefold() in MISSING else stripped


def _typed(column: Column, cells: Sequence[str]) -> tuple[Column, Fault | None]:
    """Returns a column with its type, and its fault.

    Args:
        column: The cells as written, for messages.
        cells: The same cells, with decimal points.
    """
    pandas = require("pandas", extra="data", purpose="A table")
    texts = [present_text(text) for text in cells]
    found, wrong = _numbers(texts)
    numbers: Column = pandas.Series(found, index=column.index)
    names: Column = pandas.Series(texts, index=column.index, dtype=object)
    if _are_codes(texts, wrong):
        return names, None
    if not wrong:
        return numbers, None
    if all(text.casefold() in TRUTHS for text in wrong.values()) and numbers.isna().all():
        truths: Column = names.str.casefold().map(TRUTHS)
        return truths.astype(float if truths.isna().any() else bool), None
    if (fault := formatted_fault(column, wrong)) is not None:
        return numbers, fault
    if len(wrong) >= _SLIPS * names.count() or numbers.nunique() <= _MANY:
        return names, None
    rows = counted(len(wrong), "row")
    return numbers, Fault(
        places=tuple(wrong),
        sentence=f"The column {column.name!r} has numbers except in {rows}: {shown_cells(column, wrong)}",
        advice=CORRECT,
        reason=f"no number in {column.name!r}",
    )


def _numbers(texts: Sequence[str | None]) -> tuple[list[float], dict[int, str]]:
    """Returns the numbers, NaN where there are none, and the texts that are not numbers, by position."""
    pandas = require("pandas", extra="data", purpose="A table")
    found = pandas.to_numeric(pandas.Series(texts, dtype=object), errors="coerce").astype(float).tolist()
    pairs = enumerate(zip(texts, found, strict=True))
    return found, {place: text for place, (text, number) in pairs if text is not None and math.isnan(number)}


def _are_codes(texts: Sequence[str | None], wrong: Collection[int]) -> bool:
    """Whether the numbers are names written in digits; a single leading zero among many is a typing error."""
    numbers = [text for place, text in enumerate(texts) if text is not None and place not in wrong]
    zeros = sum(text[0] == "0" and len(text) > 1 for text in numbers)
    return zeros > 0 and zeros >= _FEWEST_ZEROS * len(numbers) and all(text.isdecimal() for text in numbers)
