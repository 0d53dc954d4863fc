"""Columns read as text become what they hold: numbers, booleans, or text."""

import re
from collections.abc import Collection

from onepeak._extras import require
from onepeak.data.frame_types import Column, Frame
from onepeak.data.listing import counted, listed
from onepeak.errors import InputError

MISSING = frozenset({"", "na", "n/a", "nan", "null", "?"})
"""What programs write for a value that is missing, without regard to case."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
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
    texts = column.str.strip()
    missing = texts.str.casefold().isin(MISSING)
    present = texts[~missing]
    if not present.empty and present.str.casefold().isin({"true", "false"}).all():
        truth = texts.str.casefold().eq("true")
        return truth if not missing.any() else truth.astype(float).mask(missing)
    numbers: Column = pandas.to_numeric(texts.mask(missing), errors="coerce").astype(float)
    wrong = present[numbers[~missing].isna()]
    if wrong.empty:
        return numbers
    if wrong.map(lambda text: _DECIMAL_COMMA.fullmatch(text) is not None).all():
        raise InputError(
            f"The column {column.name!r} has numbers with a decimal comma, such as {wrong.iloc[0]}: "
            "write them with a point."
        )
    if numbers.nunique() > _MANY and len(wrong) < 0.1 * len(present):
        shown = listed(f"{text!r} (row {row})" for row, text in wrong.items())
        raise InputError(f"The column {column.name!r} is numbers but for {counted(len(wrong), 'row')}: {shown}.")
    return texts.astype(object).mask(missing, None)
