"""Notes on the columns of a table: how they are read, and what looks odd."""

import numpy as np
import numpy.typing as npt

from onepeak._listing import counted, listed
from onepeak.data.manifest import FeatureRows

_FEW = 10
"""At most this many different integers may be names; in so few rows any column may happen to rise in equal steps."""
_ROWS_PER_NAME = 10
"""With fewer rows per integer, a column is not suspected to hold names."""
_MANY = 50
"""From this many integers on, all different, a column may be an id."""


def kinds_of(rows: FeatureRows) -> tuple[str, ...]:
    """Returns notes on which columns are numbers, which are categories, and which numbers may be names or ids.

    A column may hold names if it has 3 to 10 different integers, each in 10 rows on average (with two values, both
    readings are equivalent). It may hold ids if all its integers differ and they are many or rise in equal steps.

    Example:
        >>> values = np.stack([np.arange(60) % 3, np.arange(60) / 7], axis=1)
        >>> for sentence in kinds_of(FeatureRows(columns=("site", "size"), values=values)):
        ...     print(sentence)
        read as numbers: site, size
        few different integers in site (3): if they are names, say so with `category` (--category COLUMN)
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
    sentences = []
    if numbers:
        sentences.append(f"read as numbers: {listed(numbers)}")
    if rows.categories:
        sentences.append(f"read as categories: {listed(rows.categories)}")
    if few:
        sentences.append(
            f"few different integers in {listed(few)}: if they are names, say so with `category` (--category COLUMN)"
        )
    if ids:
        sentences.append(
            f"a different value in every row, as ids have, in {listed(ids)}: leave ids out with `drop` (--drop COLUMN)"
        )
    return tuple(sentences)


def odd_values(rows: FeatureRows) -> tuple[str, ...]:
    """Returns notes on columns without information, on missing values and on repeated rows."""
    missing: npt.NDArray[np.bool_] = np.isnan(rows.values)
    first = rows.values[np.argmin(missing, axis=0), np.arange(len(rows.columns))]
    constant = (missing | (rows.values == first)).all(axis=0) & ~missing.all(axis=0)
    sentences = []
    for found, what in ((missing.all(axis=0), "without any value"), (constant, "with one value only")):
        names = [rows.columns[position] for position in np.flatnonzero(found)]
        if names:
            sentences.append(f"{counted(len(names), 'column')} {what}: {listed(names)}")
    if missing.any():
        names = [rows.columns[position] for position in np.flatnonzero(missing.any(axis=0))]
        sentences.append(f"{counted(int(missing.sum()), 'missing value')} in {listed(names)}")
    repeated = len(rows) - len({row.tobytes() for row in rows.values})
    if repeated:
        sentences.append(f"{counted(repeated, 'row')} with the same features as an earlier one")
    return tuple(sentences)
