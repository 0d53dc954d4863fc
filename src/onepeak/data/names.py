"""Converts table cells to category names, in the same way for training and prediction, files and frames."""

import re

from onepeak._extras import require
from onepeak.data.frame_types import Column
from onepeak.data.text_columns import present_text

_INTEGER = re.compile(r"(-?(?:0|[1-9]\d*))(?:\.0+)?")
"""An integer, or a float such as `3.0`: a missing value turns a column of integers into floats. `007` is a name."""


def names_of(column: Column) -> list[str | None]:
    """Returns the cells as names: text without surrounding spaces, None if missing.

    Example:
        >>> import pandas
        >>> names_of(pandas.Series([1, 2])), names_of(pandas.Series(["01", " a ", "NA"]))
        (['1', '2'], ['01', 'a', None])
    """
    return [None if gone else _name(value) for value, gone in zip(column.tolist(), column.isna(), strict=True)]


def as_names(column: Column) -> Column:
    """Returns the result of `names_of` as a column."""
    pandas = require("pandas", extra="data", purpose="A table")
    names: Column = pandas.Series(names_of(column), index=column.index, name=column.name, dtype=object)
    return names


def categories_of(column: Column) -> tuple[str, ...]:
    """Returns the distinct names of a column, in declared order or sorted; integers are written without a point.

    Example:
        >>> import pandas
        >>> categories_of(pandas.Series(["b", "a", "b"])), categories_of(pandas.Series(["1.0", "2"]))
        (('a', 'b'), ('1', '2'))
    """
    declared = getattr(column.dtype, "categories", None)
    found = {name for name in names_of(column) if name is not None}
    written = sorted(found) if declared is None else map(_name, declared.tolist())
    names = [name for name in dict.fromkeys(written) if name is not None]
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
