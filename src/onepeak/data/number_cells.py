"""Reads columns of numbers cell by cell, so that a bad cell does not affect the others."""

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak._extras import require
from onepeak.data.frame_types import Column
from onepeak.data.text_columns import TRUTHS, present_text
from onepeak.data.written_numbers import PLAIN, is_formatted
from onepeak.errors import InputError

Kind: TypeAlias = Literal["number", "category"]

_LONGEST = 40
"""How many characters of a cell a message shows."""


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
    """Reads the numbers in a column of numbers or text, and describes each cell that is not a number.

    In a column without numbers, true and false are read as 1 and 0.

    Returns:
        The numbers, NaN for missing values and bad cells; and a message for each bad cell, by position.

    Example:
        >>> import pandas
        >>> numbers, wrong = number_cells(pandas.Series(["1.5", "NA", "big"], name="size"))
        >>> numbers.tolist(), wrong
        ([1.5, nan, nan], {2: "`size` must be a number, got 'big'"})
    """
    pandas = require("pandas", extra="data", purpose="A table")
    kind_of(column)  # raises for dates and other types
    cells = column.astype(object)
    values: npt.NDArray[np.float64]
    values = pandas.to_numeric(cells, errors="coerce").to_numpy(np.float64, copy=True, na_value=np.nan)
    written, has_numbers, wrong = cells.tolist(), not np.isnan(values).all(), dict[int, str]()
    for place in np.flatnonzero(np.isnan(values)).tolist():
        text = present_text(written[place]) if isinstance(written[place], str) else None
        if text is not None and text.casefold() in TRUTHS and not has_numbers:
            values[place] = TRUTHS[text.casefold()]
        elif text is not None:
            shown = repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "...")
            wrong[place] = f"`{column.name}` must be a number, got {shown}{f'. {PLAIN}' if is_formatted(text) else ''}"
    with np.errstate(over="ignore"):  # the networks use float32; values that overflow it are reported
        infinite = np.isinf(values.astype(np.float32))
    for place in np.flatnonzero(infinite).tolist():
        wrong[place] = f"`{column.name}` must be finite and fit into float32, got {written[place]}"
    values[infinite] = np.nan
    return values, wrong
