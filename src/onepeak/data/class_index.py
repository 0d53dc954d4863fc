"""The layout of scikit-learn's bundled CSV files, which ORCA also uses for its ordinal tables.

The first row holds the number of rows, the number of features and the names of the classes in order; every other row
holds the features and, last, the index of its class.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ClassIndexTable:
    """The table, with the columns `x1`, `x2`, ... and `label`, the name of the class."""

    columns: list[str]
    rows: list[list[str]]
    classes: tuple[str, ...]


def class_index_table(lines: Sequence[Sequence[str]]) -> ClassIndexTable | None:
    """Reads the layout; returns None if the counts in the first row do not match the table.

    Args:
        lines: All rows of the file as text, including the first.

    Example:
        >>> class_index_table([["2", "1", "low", "high"], ["0.5", "1"], ["0.7", "0"]])
        ClassIndexTable(columns=['x1', 'label'], rows=[['0.5', 'high'], ['0.7', 'low']], classes=('low', 'high'))
        >>> class_index_table([["size", "label"], ["0.5", "1"]])
    """
    first, rest = lines[0], lines[1:]
    classes = tuple(name.strip() for name in first[2:])
    if (
        len(classes) < 2
        or not rest
        or [field.strip() for field in first[:2]] != [str(len(rest)), str(len(rest[0]) - 1)]
    ):
        return None
    indices = {str(index): name for index, name in enumerate(classes)}
    if any(len(line) != len(rest[0]) or line[-1].strip() not in indices for line in rest):
        return None
    return ClassIndexTable(
        columns=[f"x{position}" for position in range(1, len(rest[0]))] + ["label"],
        rows=[[*line[:-1], indices[line[-1].strip()]] for line in rest],
        classes=classes,
    )
