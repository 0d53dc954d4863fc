"""Cells of a column that should hold numbers, each by itself: one that is none spoils no other."""

import numpy as np

from onepeak._extras import require
from onepeak.data.decimal_commas import DECIMAL_COMMA, EITHER, SAY_SO, are_decimal_if_said, thousands_or_decimals
from onepeak.data.frame_types import Column
from onepeak.data.text_columns import present_text

_TRUTHS = {"true": 1.0, "false": 0.0}
_LONGEST = 40
"""Characters of a cell that a message shows."""


def number_cells(column: Column) -> tuple[Column, dict[int, str]]:
    """The numbers of a column of text or numbers, and what is wrong with each cell that holds none.

    True and false are 1 and 0 in a column without other numbers. A column of another kind, such as dates, is returned
    as it is.

    Args:
        column: Text as it is written in a file, or numbers, which must be finite in float32.

    Returns:
        The numbers, NaN where there is none; and by the position of each wrong cell a message.

    Example:
        >>> import pandas
        >>> numbers, wrong = number_cells(pandas.Series(["1.5", "NA", "big", "2,5"], name="size"))
        >>> numbers.tolist(), wrong[2]
        ([1.5, nan, nan, nan], "`size` must be a number, got 'big'")
        >>> wrong[3]
        "`size` must be a number, got '2,5': write it with a point"
        >>> number_cells(pandas.Series(["2,5"], name="size"))[1][0].partition(": ")[2]
        'write it with a point, or of a CSV say with --decimal , (`decimal`) that the comma is decimal'
    """
    pandas = require("pandas", extra="data", purpose="A table")
    types = pandas.api.types
    cells = column.astype(object)
    if not types.is_numeric_dtype(column.dtype) and types.infer_dtype(cells) not in ("string", "empty"):
        return column, {}
    values = pandas.to_numeric(cells, errors="coerce").to_numpy(np.float64, copy=True, na_value=np.nan)
    written = cells.tolist()
    no_numbers = np.flatnonzero(np.isnan(values)).tolist()
    found = {place: present_text(written[place]) for place in no_numbers if isinstance(written[place], str)}
    texts = {place: text for place, text in found.items() if text is not None}
    truths = {place: _TRUTHS[text.casefold()] for place, text in texts.items() if text.casefold() in _TRUTHS}
    wanted = "a number"
    if truths and len(no_numbers) == len(values):
        wanted = "true or false"
        values[list(truths)] = list(truths.values())
    say_so = f", or of a CSV {SAY_SO}" if are_decimal_if_said(written) else ""
    wrong = {
        place: f"`{column.name}` must be {wanted}, got {_shown(text, say_so)}"
        for place, text in texts.items()
        if np.isnan(values[place])
    }
    with np.errstate(over="ignore"):  # what float32, the network's numbers, cannot hold is told of
        infinite = np.isinf(values.astype(np.float32))
    for place in np.flatnonzero(infinite).tolist():
        wrong[place] = f"`{column.name}` must be finite and fit into float32, got {written[place]}"
    values[infinite] = np.nan
    return pandas.Series(values, index=column.index, name=column.name), wrong


def _shown(text: str, say_so: str) -> str:
    if EITHER.fullmatch(text):
        how = thousands_or_decimals(text)
        return f"{text!r}: {how[0].lower()}{how[1:]}{say_so}"
    if DECIMAL_COMMA.fullmatch(text):
        return f"{text!r}: write it with a point{say_so}"
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "...")
