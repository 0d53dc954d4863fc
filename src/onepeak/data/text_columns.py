"""Columns read as text become what they hold: numbers, booleans, or text."""

import math
from collections.abc import Collection, Sequence

from onepeak._extras import require
from onepeak._listing import counted
from onepeak.data.faults import CORRECT, Fault, shown_cells
from onepeak.data.frame_types import Column, Frame
from onepeak.data.written_numbers import Commas, comma_notes, formatted_fault, with_points

MISSING = frozenset({"", "na", "n/a", "nan", "null", "?"})
"""What programs write for a value that is missing, without regard to case."""
TRUTHS = {"true": 1.0, "false": 0.0}

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
    otherwise turn a number into a name. Integers are names, such as `01067`, if a twentieth has a zero before it.

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
    result, faults, with_commas = frame.copy(), list[Fault | None](), dict[str, list[str]]()
    for name in frame.columns.difference(list(as_text), sort=False):
        texts = frame[name].tolist()
        result[name], fault = _typed(frame[name], texts)
        if (pointed := with_points(texts, commas=commas)) is not None:
            read, its_fault = _typed(frame[name], pointed)
            if read.dtype == float:  # else they are names, which stay as they are written
                result[name], fault, with_commas[name] = read, its_fault, texts
        faults.append(fault)
    return result, tuple(fault for fault in faults if fault is not None), comma_notes(with_commas)


def fault_of_text(column: Column, texts: Sequence[str | None]) -> Fault | None:
    """What is wrong with a column of text in a frame: formatted numbers, which would be taken for names.

    Args:
        column: The column, for its name and the names of its rows.
        texts: What it holds, without spaces around it; None where a value is missing.

    Example:
        >>> import pandas
        >>> cells = pandas.Series(["12 %", "7 %"], name="share")
        >>> fault_of_text(cells, cells.tolist()).sentence
        "The column 'share' has formatted numbers: '12 %' (row 0), '7 %' (row 1)"
    """
    _, wrong = _numbers(texts)
    return None if _are_codes(texts, wrong) else formatted_fault(column, wrong)


def present_text(text: str) -> str | None:
    """The text without spaces around it; None where it stands for a missing value."""
    stripped = text.strip()
    return None if stripped.casefold() in MISSING else stripped


def _typed(column: Column, cells: Sequence[str]) -> tuple[Column, Fault | None]:
    """A column and its fault.

    Args:
        column: The cells as they are written, which messages show.
        cells: The same, with points for decimal commas.
    """
    pandas = require("pandas", extra="data", purpose="A table")
    texts = [present_text(text) for text in cells]
    found, wrong = _numbers(texts)
    numbers: Column = pandas.Series(found, index=column.index)
    names: Column = pandas.Series(texts, index=column.index, dtype=object)
    if _are_codes(texts, wrong):
        return names, None
    if not wrong:
        return numbers, None
    if all(text.casefold() in TRUTHS for text in wrong.values()) and numbers.isna().all():
        truths: Column = names.str.casefold().map(TRUTHS)
        return truths.astype(float if truths.isna().any() else bool), None
    if (fault := formatted_fault(column, wrong)) is not None:
        return numbers, fault
    if len(wrong) >= _SLIPS * names.count() or numbers.nunique() <= _MANY:
        return names, None
    rows = counted(len(wrong), "row")
    return numbers, Fault(
        places=tuple(wrong),
        sentence=f"The column {column.name!r} has numbers except in {rows}: {shown_cells(column, wrong)}",
        advice=CORRECT,
        reason=f"no number in {column.name!r}",
    )


def _numbers(texts: Sequence[str | None]) -> tuple[list[float], dict[int, str]]:
    """The numbers, NaN where there is none, and the texts that are no numbers, by position."""
    pandas = require("pandas", extra="data", purpose="A table")
    found = pandas.to_numeric(pandas.Series(texts, dtype=object), errors="coerce").astype(float).tolist()
    pairs = enumerate(zip(texts, found, strict=True))
    return found, {place: text for place, (text, number) in pairs if text is not None and math.isnan(number)}


def _are_codes(texts: Sequence[str | None], wrong: Collection[int]) -> bool:
    """Whether the numbers are names in digits: one zero before a number among many others is a slip."""
    numbers = [text for place, text in enumerate(texts) if text is not None and place not in wrong]
    zeros = sum(text[0] == "0" and len(text) > 1 for text in numbers)
    return zeros > 0 and zeros >= _FEWEST_ZEROS * len(numbers) and all(text.isdecimal() for text in numbers)
