"""The group of every row, such as its patient, as a number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from onepeak._extras import require
from onepeak._listing import counted, listed
from onepeak.errors import InputError


def numbers_of_groups(groups: object, num_rows: int) -> npt.NDArray[np.int64]:
    """Returns a group number for every row, from 0 in the order of first appearance.

    Args:
        groups: A hashable label for each row.
        num_rows: Number of rows.

    Example:
        >>> numbers_of_groups(["p7", "p2", ("p", 7), "p7"], 4)
        array([0, 1, 2, 0])
    """
    pandas = require("pandas", extra="sklearn", purpose="A fit with groups")
    labels = _one_a_row(groups, num_rows)
    try:
        numbers, _ = pandas.factorize(labels)
    except TypeError as error:
        raise InputError(f"`groups` must have labels that can be hashed, such as text or numbers: {error}.") from error
    missing = np.flatnonzero(numbers < 0)
    if len(missing):
        raise InputError(
            f"`groups` must have no missing value, got {counted(len(missing), 'row')} without a group, at positions "
            f"{listed(missing.tolist())}: give each row that belongs to no group a group of its own."
        )
    return np.asarray(numbers, dtype=np.int64)


def _one_a_row(groups: object, num_rows: int) -> npt.NDArray[np.object_]:
    if hasattr(groups, "__array__"):
        given: Any = np.asarray(groups)
        shape = given.shape
    elif isinstance(groups, Sequence) and not isinstance(groups, str):
        given, shape = groups, (len(groups),)  # not an array: tuple labels would become columns
    else:
        raise InputError(f"`groups` must be a sequence or an array with a label for each row, got {groups!r}.")
    if shape != (num_rows,):
        raise InputError(f"`groups` must have one label for each of the {num_rows:,} rows, got shape {shape}.")
    labels = np.empty(num_rows, dtype=object)
    labels[:] = list(given)
    return labels
