"""Columns read as text become what they hold: numbers, booleans, or text."""

import math
import re
from collections.abc import Collection

from onepeak._extras import require
from onepeak.data.frame_types import Column, Frame
from onepeak.data.listing import counted, listed
from onepeak.errors import InputError

MISSING = frozenset({"", "na", "n/a", "nan", "null", "?"})
"""What programs write for a value that is missing, without regard to case."""

DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_MANY = 20


def typed(frame: Frame, *, as_text: Collection[str] = ()) -> Frame:
    """Finds what each column of text holds.

    A column of many numbers with a few that are none is an error rather than a category: a slip of the pen would
    otherwise turn a number into a name.

    Args:
        frame: Columns of text.
        as_text: Columns that stay as they are.

    Example:
        >>> import pandas
        >>> typed(pandas.DataFrame({"a": ["1", ""], "b": ["true", "false"], "c": ["x", "?"]})).to_dict("list")
        {'a': [1.0, nan], 'b': [True, False], 'c': ['x', None]}
    """
    result = frame.copy()
    for name in frame.columns:
        if name not in as_text:
            result[name] = _typed(frame[name])
    return result


def _typed(column: Column) -> Column:
    pandas = require("pandas", extra="data", purpose="A table")
    numbers: Column = pandas.to_numeric(column, errors="coerce").astype(float)
    if not numbers.isna().any():
        return numbers  # most columns: no need to look at each value
    texts = [present_text(text) for text in column.tolist()]
    present = [text for text in texts if text is not None]
    lowered = [None if text is None else text.casefold() for text in texts]
    values: Column
    if present and set(lowered) <= {"true", "false", None}:
        kind = float if None in lowered else bool
        values = pandas.Series([None if text is None else text == "true" for text in lowered], index=column.index)
        return values.astype(kind)
    values = pandas.Series(texts, index=column.index, dtype=object)
    numbers = pandas.to_numeric(values, errors="coerce").astype(float)
    wrong = {
        row: text
        for row, text, number in zip(column.index, texts, numbers.tolist(), strict=True)
        if text is not None and math.isnan(number)
    }
    if not wrong:
        return numbers
    if all(DECIMAL_COMMA.fullmatch(text) for text in wrong.values()):
        raise InputError(
            f"The column {column.name!r} has numbers with a decimal comma, such as {next(iter(wrong.values()))}: "
            "write them with a point."
        )
    if numbers.nunique() > _MANY and len(wrong) < 0.1 * len(present):
        shown = listed(f"{text!r} (row {row})" for row, text in wrong.items())
        raise InputError(
            f"The column {column.name!r} is numbers but for {counted(len(wrong), 'row')}: {shown}. Correct "
            "these cells, or empty them: what is missing is filled in."
        )
    return values


def present_text(text: str) -> str | None:
    """The text without spaces around it; None where it stands for a missing value."""
    stripped = text.strip()
    return None if stripped.casefold() in MISSING else stripped
