"""Columns of a table as numbers: what each becomes, and what is left out with a note."""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from onepeak._extras import require
from onepeak._listing import counted, listed
from onepeak.data.faults import CORRECT, FEW, Fault
from onepeak.data.feature_notes import kinds_of, odd_values
from onepeak.data.frame_types import Column, Frame
from onepeak.data.manifest import FeatureRows
from onepeak.data.scan import IMAGE_SUFFIXES
from onepeak.data.text_columns import fault_of_text, present_text
from onepeak.errors import InputError

Kind: TypeAlias = Literal["number", "category"]

_FEW = 10
"""In a table of no more rows than this every column can look like an identifier."""
_INTEGER = re.compile(r"(-?(?:0|[1-9]\d*))(?:\.0+)?")
"""As a file or a table may have it: a missing value beside integers makes them floats. `007` is a name."""
_DATE = re.compile(
    r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4}|\d{1,2}/\d{1,2}/\d{2})"
    r"(?:[T ]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?(?:Z| ?[+-]\d{2}:?\d{2})?)?"
)
"""2024-03-01, 01.03.2024 or 3/1/24, with or without a time."""


def feature_faults(frame: Frame) -> list[Fault]:
    """Columns of a kind that no feature can have, numbers written for people, and such as float32 cannot hold.

    Args:
        frame: Only the columns that are features, and none that is said to hold names.

    Example:
        >>> import pandas
        >>> feature_faults(pandas.DataFrame({"n": [1.0, 1e300]}))[0].sentence
        "The column 'n' must be finite and fit into float32, 1 row does not: 1"
    """
    faults = []
    for name in frame.columns:
        try:
            fault = _infinite(frame[name]) if _kind(frame[name]) == "number" else _formatted(frame[name])
        except InputError as error:
            fault = Fault(places=(), sentence=str(error).removesuffix("."))
        faults += [] if fault is None else [fault]
    return faults


def encode_features(
    frame: Frame, *, places: Sequence[int] | None = None, named: Collection[str] = ()
) -> tuple[FeatureRows, tuple[str, ...]]:
    """Numbers as float64, booleans as 0 and 1, text and categories as codes, missing values as NaN.

    Left out, with a note: text that is different in more than half of the rows (an identifier or free text), dates as
    text, and a column that only counts the rows (an index saved by accident, which tells the label of a sorted table).

    Args:
        frame: Only the columns that are features.
        places: The positions of these rows in the table they come from, where others were left out of it.
        named: Columns of names, even where they are empty, that are kept, however little they repeat.

    Returns:
        The rows, and notes on what was left out, as what the others are read, and what looks odd.

    Example:
        >>> import pandas
        >>> rows, notes = encode_features(pandas.DataFrame({"n": [1, 2], "ok": [True, False], "tone": ["b", "a"]}))
        >>> rows.values.tolist(), rows.categories
        ([[1.0, 1.0, 1.0], [2.0, 0.0, 0.0]], {'tone': ('a', 'b')})
    """
    kinds: dict[str, Kind] = {name: "category" if name in named else _kind(frame[name]) for name in frame.columns}
    notes: list[str] = []
    unnamed = [name for name, kind in kinds.items() if kind == "category" and name not in named]
    dates = [name for name in unnamed if _is_date(frame[name])]
    unique = [name for name in unnamed if name not in dates and _is_identifier(frame[name])]
    at = np.arange(len(frame)) if places is None else np.asarray(places)
    counting = [name for name, kind in kinds.items() if kind == "number" and _counts_the_rows(frame[name], at)]
    _refuse_paths(frame, unique)
    if unique:
        notes.append(f"left out, as text that hardly repeats: {listed(unique)}")
    if dates:
        notes.append(
            f"left out, as dates: {listed(dates)}; to use them give what matters as numbers: year, month, age in days"
        )
    if counting:
        notes.append(f"left out, as a count of the rows: {listed(name or '(no name)' for name in counting)}")
    kept = [name for name in kinds if name not in {*unique, *dates, *counting}]
    if not kept:
        why = f": {'; '.join(notes)}" if notes else ""
        raise InputError(f"A table must have a column that is a feature, it has none{why}.")
    categories = {name: _categories(frame[name]) for name in kept if kinds[name] == "category"}
    rows, _ = encode_like(frame, columns=kept, categories=categories)
    return rows, (*notes, *kinds_of(rows), *odd_values(rows))


def as_names(column: Column) -> Column:
    """A column of names that may be written in digits: text without spaces around it, None where missing.

    Example:
        >>> import pandas
        >>> as_names(pandas.Series([1, 2])).tolist(), as_names(pandas.Series(["01", "NA"])).tolist()
        (['1', '2'], ['01', None])
    """
    pandas = require("pandas", extra="data", purpose="A table")
    names: Column = pandas.Series(_texts(column), index=column.index, name=column.name, dtype=object)
    return names


def encode_like(
    frame: Frame, *, columns: Sequence[str], categories: Mapping[str, Sequence[str]]
) -> tuple[FeatureRows, tuple[str, ...]]:
    """The same columns with the same codes as another table, such as the one a model was trained on.

    Args:
        frame: A table that has these columns; others are not read.
        columns: The columns, in the order wanted.
        categories: For each categorical column, the name of every code. A name not among them becomes NaN; `1.0` and
            `1` stand for each other where only one of them is. Spaces around a name do not count.

    Returns:
        The rows, and notes on names that have no code.

    Example:
        >>> import pandas
        >>> table = pandas.DataFrame({"tone": ["b", "z"], "n": [1, 2]})
        >>> rows, notes = encode_like(table, columns=["n", "tone"], categories={"tone": ("a", "b")})
        >>> rows.values.tolist(), notes
        ([[1.0, 1.0], [2.0, nan]], ("1 name of the column 'tone' not seen in training, taken as missing: z",))
    """
    check_columns(frame, columns)
    notes: list[str] = []
    values = np.empty((len(frame), len(columns)), dtype=np.float64)
    for position, name in enumerate(columns):
        if name in categories:
            exact = {text: code for code, text in enumerate(categories[name])}
            codes = {_integer(text): code for text, code in exact.items()} | exact
            texts = [text if text is None or text in codes else _integer(text) for text in _texts(frame[name])]
            new = sorted({text for text in texts if text is not None and text not in codes})
            if new:
                names = f"{counted(len(new), 'name')} of the column {name!r}"
                notes.append(f"{names} not seen in training, taken as missing: {listed(new)}")
            values[:, position] = [np.nan if text is None else codes.get(text, np.nan) for text in texts]
        else:
            values[:, position] = _numbers(frame[name])
    kept = {name: tuple(categories[name]) for name in columns if name in categories}
    return FeatureRows(columns=tuple(columns), values=values, categories=kept), tuple(notes)


def check_columns(frame: Frame, columns: Sequence[str]) -> None:
    """Refuses a table that lacks one of these columns."""
    gone = [name for name in columns if name not in frame.columns]
    if gone:
        raise InputError(f"The table must have the columns {listed(columns)}, it lacks {listed(gone)}.")


def _kind(column: Column) -> Kind:
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
        f"A feature must be numbers, booleans, text or categories, the column {column.name!r} holds {dtype} "
        f"such as {present.iloc[0]!r}. Turn it into one of them or leave it out (`drop`, --drop)."
    )


def _numbers(column: Column) -> npt.NDArray[np.float64]:
    """Finite numbers, NaN where missing."""
    if _kind(column) != "number":
        raise InputError(f"The column {column.name!r} must be numbers, it holds text.")
    fault = _infinite(column)
    if fault is not None:
        raise InputError(f"{fault.sentence}.")
    return _values(column)


def _infinite(column: Column) -> Fault | None:
    with np.errstate(over="ignore"):  # what float32, the network's numbers, cannot hold is what is looked for
        infinite = np.flatnonzero(np.isinf(_values(column).astype(np.float32))).tolist()
    if not infinite:
        return None
    rows = listed((column.index[place] for place in infinite), limit=FEW)
    return Fault(
        places=tuple(infinite),
        sentence=f"The column {column.name!r} must be finite and fit into float32, "
        f"{counted(len(infinite), 'row')} {'does' if len(infinite) == 1 else 'do'} not: {rows}",
        advice=CORRECT,
        reason=f"infinite or too large in {column.name!r}",
    )


def _formatted(column: Column) -> Fault | None:
    """See `fault_of_text`; what a column declares to be its categories are names."""
    declared = getattr(column.dtype, "categories", None) is not None
    return None if declared else fault_of_text(column, _texts(column))


def _values(column: Column) -> npt.NDArray[np.float64]:
    pandas = require("pandas", extra="data", purpose="A table")
    values: npt.NDArray[np.float64]
    values = pandas.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    return values


def _texts(column: Column) -> list[str | None]:
    return [None if gone else _name(value) for value, gone in zip(column.tolist(), column.isna(), strict=True)]


def _present(column: Column) -> list[str]:
    return [text for text in _texts(column) if text is not None]


def _name(value: object) -> str | None:
    """The one way from a cell to a name, in training and after it, from files and frames."""
    if isinstance(value, float) and value.is_integer():
        return f"{int(value)}.0"  # without an exponent
    return present_text(str(value))


def _integer(text: str) -> str:
    """An integer without a point, any other text as it stands."""
    match = _INTEGER.fullmatch(text)
    return text if match is None else match[1]


def _categories(column: Column) -> tuple[str, ...]:
    """The names of a column: integers without a point, if all of them are integers; sorted, if they have no order."""
    declared = getattr(column.dtype, "categories", None)
    written = sorted(set(_present(column))) if declared is None else map(_name, declared.tolist())
    names = [name for name in dict.fromkeys(written) if name is not None]
    if all(map(_INTEGER.fullmatch, names)):
        names = list(dict.fromkeys(map(_integer, names)))
    return tuple(names)


def _is_identifier(column: Column) -> bool:
    present = _present(column)
    return len(present) > _FEW and len(set(present)) > len(present) // 2


def _is_date(column: Column) -> bool:
    """Whether nearly all texts are dates, in however few rows."""
    texts = _present(column)
    return 10 * sum(_DATE.fullmatch(text) is not None for text in texts) >= 9 * max(len(texts), 1)


def _counts_the_rows(column: Column, places: npt.NDArray[np.int64]) -> bool:
    if len(column) <= _FEW or column.isna().any():
        return False
    first = column.to_numpy(dtype=np.float64) - places
    return bool(first[0] in (0, 1) and (first == first[0]).all())


def _refuse_paths(frame: Frame, names: Sequence[str]) -> None:
    """An error for columns that name pictures: the table is a list, and which column it is must be said."""
    texts = {name: frame[name].dropna().astype(str) for name in names}
    found = [name for name in names if texts[name].str.lower().str.endswith(tuple(IMAGE_SUFFIXES)).mean() > 0.5]
    if not found:
        return
    columns = f"columns {', '.join(map(repr, found))} name" if len(found) > 1 else f"column {found[0]!r} names"
    flag = "COLUMN" if len(found) > 1 else shlex.quote(found[0])
    raise InputError(
        f"The {columns} pictures, such as {texts[found[0]].iloc[0]!r}: say {'which' if len(found) > 1 else 'so'} with "
        f"`path` (--path {flag}).",
        page="images",
    )
