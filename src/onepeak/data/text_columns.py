"""Columns read as text become what they hold: numbers, booleans, or text."""

import math
import re
from collections.abc import Collection, Mapping, Sequence

from onepeak._extras import require
from onepeak.data.faults import CORRECT, FEW, Fault
from onepeak.data.frame_types import Column, Frame
from onepeak.data.listing import counted, listed

MISSING = frozenset({"", "na", "n/a", "nan", "null", "?"})
"""What programs write for a value that is missing, without regard to case."""

DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
"""1,234.50 and 1.234,50; 1,234 may be either this or a decimal comma."""
_PERCENT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*%")
_NAMES = "or say with --category that they are names"
_MANY = 20
_FEWEST_ZEROS = 0.05
"""The share of integers with a zero before them that is no slip."""


def typed(frame: Frame, *, as_text: Collection[str] = ()) -> tuple[Frame, tuple[Fault, ...]]:
    """Finds what each column of text holds.

    In a column of many numbers a few that are none are a fault rather than a category: a slip of the pen would
    otherwise turn a number into a name. Integers with a zero before them, as `01067`, are names if all have one width
    or a twentieth has such a zero; else it is a slip, and they are numbers.

    Args:
        frame: Columns of text.
        as_text: Columns that stay as they are.

    Returns:
        The columns, without a value where there is a fault, and the faults.

    Example:
        >>> import pandas
        >>> frame, _ = typed(pandas.DataFrame({"a": ["1", ""], "b": ["true", "false"], "c": ["x", "?"]}))
        >>> frame.to_dict("list")
        {'a': [1.0, nan], 'b': [True, False], 'c': ['x', None]}
    """
    result, faults = frame.copy(), []
    for name in frame.columns:
        if name not in as_text:
            result[name], fault = _typed(frame[name])
            faults += [] if fault is None else [fault]
    return result, tuple(faults)


def _typed(column: Column) -> tuple[Column, Fault | None]:
    pandas = require("pandas", extra="data", purpose="A table")
    numbers: Column = pandas.to_numeric(column, errors="coerce").astype(float)
    if not numbers.isna().any() and not ((numbers % 1 == 0).all() and _has_zeros_before(column.tolist())):
        return numbers, None  # most columns: no need to look closer at each value
    texts = [present_text(text) for text in column.tolist()]
    present = [text for text in texts if text is not None]
    lowered = [None if text is None else text.casefold() for text in texts]
    values: Column
    if present and set(lowered) <= {"true", "false", None}:
        kind = float if None in lowered else bool
        values = pandas.Series([None if text is None else text == "true" for text in lowered], index=column.index)
        return values.astype(kind), None
    values = pandas.Series(texts, index=column.index, dtype=object)
    numbers = pandas.to_numeric(values, errors="coerce").astype(float)
    wrong = {
        place: text
        for place, (text, number) in enumerate(zip(texts, numbers.tolist(), strict=True))
        if text is not None and math.isnan(number)
    }
    if _are_codes([text for place, text in enumerate(texts) if text is not None and place not in wrong]):
        return values, None
    few = len(wrong) < 0.1 * len(present)
    if (fault := _formatted(column, wrong, few=few)) is not None:
        return numbers, fault
    with_comma = [text for text in wrong.values() if DECIMAL_COMMA.fullmatch(text)]
    commas = 10 * len(with_comma) >= 9 * len(wrong)
    if not wrong or not (commas or (few and numbers.nunique() > _MANY)):
        return (values if wrong else numbers), None
    shown = listed((f"{text!r} (row {column.index[place]})" for place, text in wrong.items()), limit=FEW)
    if commas and not few:  # how the file is written, and no slip: to leave these rows out would leave round numbers
        sentence = f"The column {column.name!r} has numbers with a decimal comma, such as {with_comma[0]}"
        return numbers, Fault(places=(), sentence=sentence, advice="Write them with a point")
    return numbers, Fault(
        places=tuple(wrong),
        sentence=f"The column {column.name!r} is numbers but for {counted(len(wrong), 'row')}: {shown}",
        advice="Write numbers with a point, not with a comma" if commas else CORRECT,
        reason=f"no number in {column.name!r}",
    )


def _has_zeros_before(texts: Sequence[str]) -> bool:
    """Whether any text begins as a code may, and not with the number 0 itself."""
    return any(text.lstrip().startswith("0") and text.strip() != "0" for text in texts)


def _are_codes(texts: Sequence[str]) -> bool:
    """Whether these numbers are names in digits: one zero before a number among many of other widths is a slip."""
    zeros = sum(text[0] == "0" and len(text) > 1 for text in texts)
    if not zeros or not all(text.isdecimal() for text in texts):
        return False
    return zeros >= _FEWEST_ZEROS * len(texts) or len(set(map(len, texts))) == 1


def _formatted(column: Column, wrong: Mapping[int, str], *, few: bool) -> Fault | None:
    """A fault of the column where nearly all of these cells are numbers with separators of thousands or per cent.

    To leave their rows out would leave small numbers only. A single per cent sign may be a slip.
    """
    grouped = {place: text for place, text in wrong.items() if _THOUSANDS.fullmatch(text)}
    percent = {place: text for place, text in wrong.items() if _PERCENT.fullmatch(text)}
    commas = {place for place, text in wrong.items() if DECIMAL_COMMA.fullmatch(text)}
    if 10 * len(commas | grouped.keys() | percent.keys()) < 9 * len(wrong):
        return None
    plain = {place: text for place, text in grouped.items() if place not in commas}
    if plain:
        found, what, first = grouped, "separators of thousands", next(iter(plain.values()))
        advice = f"Write {_rewritten(first)} for {first}, {_NAMES}"
    elif grouped and grouped.keys() == commas:
        found, what, first = grouped, "a comma", next(iter(grouped.values()))
        advice = f"Write {first.replace(',', '')} for {first} if it separates thousands, else {first.replace(',', '.')}"
        advice = f"{advice}, {_NAMES}"
    elif percent and not few:
        found, what, first = percent, "a per cent sign", next(iter(percent.values()))
        advice = f"Write {_rewritten(first)} for {first}, {_NAMES}"
    else:
        return None
    shown = listed((f"{text!r} (row {column.index[place]})" for place, text in found.items()), limit=FEW)
    return Fault(places=(), sentence=f"The column {column.name!r} has numbers with {what}: {shown}", advice=advice)


def _rewritten(text: str) -> str:
    """The number as it should stand: of points and commas only the last, if there is no other of its kind."""
    number = text.rstrip("% \u00a0\u202f")
    last = max(number.rfind(","), number.rfind("."))
    whole, part = (number, "") if last < 0 or number.count(number[last]) > 1 else (number[:last], number[last + 1 :])
    return whole.replace(",", "").replace(".", "") + (f".{part}" if part else "")


def present_text(text: str) -> str | None:
    """The text without spaces around it; None where it stands for a missing value."""
    stripped = text.strip()
    return None if stripped.casefold() in MISSING else stripped
