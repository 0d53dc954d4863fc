"""Notes on the columns of a table: what they are read as, what looks odd in them, and what gives labels away."""

import numpy as np
import numpy.typing as npt

from onepeak._listing import counted, listed
from onepeak.data.manifest import FeatureRows

_FEW = 10
"""So few integers may be names; in so few rows any column may rise by one step."""
_ROWS_PER_NAME = 10
"""With fewer rows for each integer of a column, nobody is asked whether they are names."""
_MANY = 50
"""Where so many integers all differ, they may be an id."""
_NAMES = 20
"""Fewer names may each have one label because the category matters: a site of severe cases only."""
_ROWS_OF_ONE = 2
"""Of names with fewer rows on average it says little that each has one label."""
_OTHERS = 20
"""Where fewer rows have another label than the most common one, chance may put them all under names of their own."""


def kinds_of(rows: FeatureRows) -> tuple[str, ...]:
    """Sentences on which columns are read as numbers and which as categories, and on numbers that may be names or ids.

    Names may be columns of 3 to 10 different integers, each in 10 rows on average: of two values it makes no
    difference. Ids may be integers that all differ, if they are many or rise by one step from row to row.

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


def telling_names(rows: FeatureRows, labels: npt.NDArray[np.int64]) -> tuple[str, ...]:
    """A sentence on columns that tell the label by themselves, as names or numbers of patients do whose rows share it.

    These are categories and integers of 20 values or more, on average in 2 rows each, none of which has rows of two
    labels; of integers only those that labels do not rise or fall with, as they do with a score.

    Example:
        >>> patients = FeatureRows(
        ...     columns=("who",), values=np.arange(60.0)[:, None] // 3, categories={"who": tuple(map(str, range(20)))}
        ... )
        >>> print(*telling_names(patients, np.arange(60) // 3 % 4))
        all rows with the same value have the same label in who (20 values): if it names patients or the like, give it
        as `group` (--group COLUMN), or leave it out with `drop` (--drop COLUMN)
    """
    telling = []
    for name, values in zip(rows.columns, rows.values.T, strict=True):
        known = ~np.isnan(values)
        codes, of = values[known], labels[known]
        count, others = len(np.unique(codes)), len(of) - max(np.bincount(of), default=0)
        if not _NAMES <= count <= len(codes) // _ROWS_OF_ONE or others < _OTHERS:
            continue
        pairs = np.unique(np.stack([codes, of]), axis=1)  # sorted by code
        turns = np.count_nonzero(np.diff(pairs[1]))
        named = name in rows.categories or ((codes % 1 == 0).all() and turns > count // 4)
        if named and pairs.shape[1] == count:
            telling.append(f"{name} ({count:,} values)")
    if not telling:
        return ()
    return (
        f"all rows with the same value have the same label in {listed(telling)}: if it names patients or the like, "
        "give it as `group` (--group COLUMN), or leave it out with `drop` (--drop COLUMN)",
    )


def odd_values(rows: FeatureRows) -> tuple[str, ...]:
    """Sentences on columns that tell nothing, on missing values and on rows that repeat."""
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
