"""Reads the rows of an estimator, with errors that name the columns that are not finite numbers and the fix."""
# ruff: noqa: N803 - `X` is scikit-learn's name for the rows

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from onepeak._listing import counted, listed
from onepeak.errors import InputError

_FIXES = {
    "text": "encode it: make_pipeline(make_column_transformer((OneHotEncoder(handle_unknown='ignore', "
    "sparse_output=False), {columns}), remainder='passthrough'), OrdinalClassifier(...))",
    "dates": "give year, month or age in days as numbers",
    "NaN": "fill in missing values: make_pipeline(SimpleImputer(), OrdinalClassifier(...))",
    "infinity": "replace it or leave the rows out",
}
"""What to do about everything that is no finite number."""

_OF_NAMES = ("The feature names should match", "Feature names are only supported")
"""How scikit-learn's errors about the names of columns begin. Others may quote the user's data."""

_LONGEST = 40
"""Most characters of a cell that a message shows."""


def read_rows(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool = True) -> Any:
    """Returns what scikit-learn's `validate_data` returns: the rows, and the labels if there are any.

    Raises:
        InputError: Some columns are not finite numbers; the message names all of them.
    """
    try:
        return validate_data(estimator, X, y, dtype=(np.float64, np.float32), reset=reset)
    except (ValueError, TypeError) as error:
        if str(error).startswith(_OF_NAMES):  # other columns than those of fit: scikit-learn names them
            raise
        faults = list(_faults(X))
        if not faults:
            raise
        raise InputError(
            f"`X` must be finite numbers, got {'; '.join(faults)}. `onepeak train` reads text and missing values "
            "itself.",
            page="table",
        ) from error


def _faults(X: Any) -> Iterator[str]:
    """Yields a sentence about each kind of value that is no finite number, with its columns."""
    found: dict[str, list[tuple[str, str]]] = {kind: [] for kind in _FIXES}
    for name, values in _columns(X):
        for kind, count in _kinds(values).items():
            example = f", such as {_example(values)}" if kind == "text" else ""
            found[kind].append((name, f"{name} ({counted(count, 'row')}{example})"))
    for kind, places in found.items():
        if places:
            columns = f"column{'s' * (len(places) > 1)} {listed(shown for _, shown in places)}"
            names = ", ".join(name for name, _ in places[:10]) + ", ..." * (len(places) > 10)
            yield f"{kind} in {columns}: {_FIXES[kind].format(columns=f'[{names}]')}"


def _example(values: npt.NDArray[Any]) -> str:
    """Returns the first text of a column, in quotes; only its beginning if it is long."""
    text = str(next(value for value in values if _kind(value) == "text"))
    return repr(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...")


def _columns(X: Any) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yields name and values of every column; nothing if there are no columns."""
    if hasattr(X, "iloc") and getattr(X, "ndim", 0) == 2:  # a DataFrame; names may occur twice
        for place, name in enumerate(X.columns):
            yield repr(name), np.asarray(X.iloc[:, place])
        return
    table = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    if table.ndim == 2:
        yield from ((str(place), column) for place, column in enumerate(table.T))


def _kinds(values: npt.NDArray[Any]) -> Counter[str]:
    """Counts the values that are no finite numbers, by kind."""
    match values.dtype.kind:
        case "f":
            counts = Counter({"NaN": int(np.isnan(values).sum()), "infinity": int(np.isinf(values).sum())})
        case "M" | "m":
            counts = Counter({"dates": len(values)})
        case "O" | "U" | "S" | "T":
            counts = Counter(kind for value in values if (kind := _kind(value)))
        case _:
            counts = Counter()
    return +counts


def _kind(value: Any) -> str | None:
    """Returns what a value is if it is no finite number; None for finite numbers and for what is unknown."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        if isinstance(value, str | bytes):
            return "text"
        if value is None or repr(value) in ("<NA>", "NaT"):
            return "NaN"
        return "dates" if hasattr(value, "isoformat") else None
    return None if math.isfinite(number) else "NaN" if math.isnan(number) else "infinity"
