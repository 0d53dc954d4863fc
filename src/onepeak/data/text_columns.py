"""Columns read as text become what they hold: numbers, booleans, or text."""

import math
from collections.abc import Collection, Sequence

from onepeak._extras import require
from onepeak._listing import counted, listed
from onepeak.data.decimal_commas import SAY_SO, Commas, are_decimal_if_said, comma_notes, example_of, with_points
from onepeak.data.faults import CORRECT, FEW, Fault
from onepeak.data.formatted_numbers import are_commas, formatted_fault
from onepeak.data.frame_types import Column, Frame

MISSING = frozenset({"", "na", "n/a", "nan", "null", "?"})
"""What programs write for a value that is missing, without regard to case."""

_MANY = 20
_SLIPS = 0.1
"""The share of cells below which those that are no numbers may be slips."""
_FEWEST_ZEROS = 0.05
"""The share of integers with a zero before them that is no slip."""


def typed(
    frame: Frame, *, as_text: Collection[str] = (), commas: Commas = "never"
) -> tuple[Frame, tuple[Fault, ...], tuple[str, ...]]:
    """Finds what each column of text holds.

    In a column of many numbers a few that are none are a fault rather than a category: a slip of the pen would
    otherwise turn a number into a name. Integers with a zero before them, as `01067`, are names if all have one width
    or a twentieth has such a zero; else it is a slip, and they are numbers.

    Args:
        frame: Columns of text.
        as_text: Columns that stay as they are.
        commas: When a comma in a number is decimal.

    Returns:
        The columns, without a value where there is a fault; the faults; a note on columns with decimal commas.

    Example:
        >>> import pandas
        >>> frame, *_ = typed(pandas.DataFrame({"a": ["1", ""], "b": ["true", "false"], "c": ["x", "?"]}))
        >>> frame.to_dict("list")
        {'a': [1.0, nan], 'b': [True, False], 'c': ['x', None]}
    """
    result, faults, with_comma = frame.copy(), [], dict[str, str]()
    for name in frame.columns:
        if name in as_text:
            continue
        texts = frame[name].tolist()
        if (pointed := with_points(texts, commas=commas)) is not None:
            result[name], fault = _typed(frame[name], pointed)
            if result[name].dtype == float:
                with_comma[name] = example_of(texts)
                faults += [] if fault is None else [fault]
                continue
        result[name], fault = _typed(frame[name], texts)
        faults += [] if fault is None else [fault]
    return result, tuple(faults), comma_notes(with_comma)


def fault_of_text(column: Column, texts: Sequence[str | None]) -> Fault | None:
    """What is wrong with a column of text that is no file's: formatted numbers, which would be taken for names.

    Args:
        column: The column, for its name and the names of its rows.
        texts: What it holds, without spaces around it; None where a value is missing.

    Example:
        >>> import pandas
        >>> cells = pandas.Series(["12 %", "7 %"], name="share")
        >>> fault_of_text(cells, cells.tolist()).sentence
        "The column 'share' has numbers with a per cent sign: '12 %' (row 0), '7 %' (row 1)"
    """
    present = [text for text in texts if text is not None]
    if not any(text[-1] == "%" or text[-1].isdecimal() for text in present):
        return None  # most columns: no need to look closer
    _, wrong = _numbers(texts)
    if _are_codes([text for place, text in enumerate(texts) if text is not None and place not in wrong]):
        return None
    return formatted_fault(column, wrong, few=len(wrong) < _SLIPS * len(present), in_file=False)


def _typed(column: Column, cells: Sequence[str]) -> tuple[Column, Fault | None]:
    """A column and its fault.

    Args:
        column: The cells as they are written, which messages show.
        cells: The same, with points for decimal commas.
    """
    pandas = require("pandas", extra="data", purpose="A table")
    written = pandas.Series(cells, index=column.index, dtype=object)
    numbers: Column = pandas.to_numeric(written, errors="coerce").astype(float)
    if not numbers.isna().any() and not ((numbers % 1 == 0).all() and _has_zeros_before(cells)):
        return numbers, None  # most columns: no need to look closer at each value
    texts = [present_text(text) for text in cells]
    present = [text for text in texts if text is not None]
    lowered = [None if text is None else text.casefold() for text in texts]
    values: Column
    if present and set(lowered) <= {"true", "false", None}:
        kind = float if None in lowered else bool
        values = pandas.Series([None if text is None else text == "true" for text in lowered], index=column.index)
        return values.astype(kind), None
    values = pandas.Series(texts, index=column.index, dtype=object)
    found, wrong = _numbers(texts)
    numbers = pandas.Series(found, index=column.index)
    if _are_codes([text for place, text in enumerate(texts) if text is not None and place not in wrong]):
        return values, None
    few = len(wrong) < _SLIPS * len(present)
    if (fault := formatted_fault(column, wrong, few=few, in_file=True)) is not None:
        return numbers, fault
    commas = are_commas(wrong)
    if not wrong or not (commas or (few and numbers.nunique() > _MANY)):
        return (values if wrong else numbers), None
    shown = listed((f"{text!r} (row {column.index[place]})" for place, text in wrong.items()), limit=FEW)
    say_so = f", or {SAY_SO}" if are_decimal_if_said(column.tolist()) else ""
    return numbers, Fault(
        places=tuple(wrong),
        sentence=f"The column {column.name!r} is numbers but for {counted(len(wrong), 'row')}: {shown}",
        advice=f"Write numbers with a point, not with a comma{say_so}" if commas else CORRECT,
        reason=f"no number in {column.name!r}",
    )


def _numbers(texts: Sequence[str | None]) -> tuple[list[float], dict[int, str]]:
    """The numbers, NaN where there is none, and the texts that are no numbers, by position."""
    pandas = require("pandas", extra="data", purpose="A table")
    found = pandas.to_numeric(pandas.Series(texts, dtype=object), errors="coerce").astype(float).tolist()
    pairs = enumerate(zip(texts, found, strict=True))
    return found, {place: text for place, (text, number) in pairs if text is not None and math.isnan(number)}


def _has_zeros_before(texts: Sequence[str]) -> bool:
    """Whether any text begins as a code may, and not with the number 0 itself."""
    return any(text.lstrip().startswith("0") and text.strip() != "0" for text in texts)


def _are_codes(texts: Sequence[str]) -> bool:
    """Whether these numbers are names in digits: one zero before a number among many of other widths is a slip."""
    zeros = sum(text[0] == "0" and len(text) > 1 for text in texts)
    if not zeros or not all(text.isdecimal() for text in texts):
        return False
    return zeros >= _FEWEST_ZEROS * len(texts) or len(set(map(len, texts))) == 1


def present_text(text: str) -> str | None:
    """The text without spaces around it; None where it stands for a missing value."""
    stripped = text.strip()
    return None if stripped.casefold() in MISSING else stripped
