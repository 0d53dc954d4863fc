"""Numbers formatted for people: 12,5 is read where it is unambiguous; 1,234.50 and 12 % are refused."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from onepeak._listing import listed
from onepeak.data.faults import Fault, shown_cells
from onepeak.data.frame_types import Column, Frame

Commas: TypeAlias = Literal["never", "certain", "always"]
"""When a comma in a number of a CSV is decimal: "never" if commas separate the cells; "certain", only in unambiguous
columns, if `;` or a tab separates them; "always", in all numeric columns, if the user says so."""

PLAIN = "Write numbers as 1234.5, or give --decimal , (`decimal`) for a CSV with decimal commas"
"""Advice for formatted numbers."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
"""1,234: thousands, or three decimals."""
_NUMBER = re.compile(r"[+-]?[\d.,]*\d[\d.,]*(?:[eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
"""1,234.50, 1.234,50 and 1.234.567, but not lists such as 1,2,3."""
_PERCENT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*%")


def with_points(texts: Sequence[str], *, commas: Commas) -> list[str] | None:
    """Replaces the decimal commas of a column by points; returns None if its commas are not, or may not be, decimal.

    Commas are not decimal in a column where a number has a point or two commas. The comma of `1,234` may separate
    thousands: with "certain", another cell of the column must show that it is decimal, as `12,5` and `0,125` do.

    Args:
        texts: The cells as written.
        commas: When a comma is decimal.

    Example:
        >>> with_points(["12,5", "1,234", "7", "NA"], commas="certain")
        ['12.5', '1.234', '7', 'NA']
        >>> with_points(["1,234", "7"], commas="certain"), with_points(["1,234", "7"], commas="always")
        (None, ['1.234', '7'])
        >>> with_points(["12,5", "1.234"], commas="always") is None
        True
    """
    if commas == "never" or not any("," in text for text in texts):
        return None
    stripped = [text.strip() for text in texts]
    found = {text for text in stripped if _DECIMAL_COMMA.fullmatch(text)}
    if not found or (commas == "certain" and all(map(_THOUSANDS.fullmatch, found))):
        return None
    if any(("." in text or text.count(",") > 1) and _NUMBER.fullmatch(text) for text in stripped):
        return None
    return [text.replace(",", ".") if text in found else text for text in stripped]


def columns_with_points(frame: Frame, names: Collection[str], *, commas: Commas) -> tuple[Frame, tuple[str, ...]]:
    """Applies `with_points` to the known numeric columns of a table, and returns a note on those with commas.

    Args:
        frame: The table, with its cells as written.
        names: The numeric columns; those that the table lacks are ignored.
        commas: When a comma is decimal.
    """
    if commas == "never":
        return frame, ()
    pointed, found = frame.copy(), dict[str, Sequence[str]]()
    for name in frame.columns.intersection(list(names), sort=False):
        if (read := with_points(texts := frame[name].tolist(), commas=commas)) is not None:
            pointed[name], found[name] = read, texts
    return pointed, comma_notes(found)


def comma_notes(found: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Returns a note on columns that were read with decimal commas.

    Args:
        found: The columns, and their cells as written.

    Example:
        >>> comma_notes({"size": ["7", "12,5"], "age": ["40,25"]})
        ('read with decimal commas: size, age (12,5 is 12.5)',)
    """
    if not found:
        return ()
    first = next(text.strip() for text in next(iter(found.values())) if _DECIMAL_COMMA.fullmatch(text.strip()))
    return (f"read with decimal commas: {listed(found)} ({first} is {first.replace(',', '.')})",)


def is_formatted(text: str) -> bool:
    """Whether a text is a number formatted for people, which `float` would refuse.

    Example:
        >>> [is_formatted(text) for text in ("1,234.50", "1.234,50", "12,5", "12 %", "12.5", "1,2,3", "3+")]
        [True, True, True, True, False, False, False]
    """
    return any(pattern.fullmatch(text) for pattern in (_DECIMAL_COMMA, _GROUPED, _PERCENT))


def formatted_fault(column: Column, wrong: Mapping[int, str]) -> Fault | None:
    """Returns a fault if nearly all cells of a column that are not plain numbers are formatted numbers.

    The fault concerns the whole column: leaving the rows out would keep only small or round numbers.

    Args:
        column: The column, for its name and the names of its rows.
        wrong: The texts that are not plain numbers, by position.
    """
    found = {place: text for place, text in wrong.items() if is_formatted(text)}
    if not found or 10 * len(found) < 9 * len(wrong):
        return None
    return Fault(
        places=(),
        sentence=f"The column {column.name!r} has formatted numbers: {shown_cells(column, found)}",
        advice=f"{PLAIN}, or say with `category` (--category) that they are names",
    )
