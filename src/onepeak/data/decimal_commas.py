"""Numbers with a decimal comma, as spreadsheets write them where the comma is the decimal sign: 12,5 for 12.5."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from onepeak._listing import listed
from onepeak.data.frame_types import Frame

Commas: TypeAlias = Literal["never", "certain", "always"]
"""When a comma in a number of a file is decimal: where another stands between its cells (`;` or a tab), in columns that
leave no doubt ("certain"); where the user says so, in all ("always")."""

DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
EITHER = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
"""1,234: thousands, or three decimals."""
SAY_SO = "say with --decimal , (`decimal`) that the comma is decimal"
_NUMBER = re.compile(r"[+-]?[\d.,]*\d[\d.,]*(?:[eE][+-]?\d+)?")


def with_points(texts: Sequence[str], *, commas: Commas) -> list[str] | None:
    """The cells of a column, their decimal commas as points; None where commas are none, or may be something else.

    They are none in a column that has a point in a number too, or two commas in one. `1,234` may separate thousands: in
    doubt another cell of the column must show that the comma is decimal, as `12,5` and `0,125` do.

    Args:
        texts: The cells as they are written.
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
    found = {text for text in stripped if DECIMAL_COMMA.fullmatch(text)}
    if not found or (commas == "certain" and all(map(EITHER.fullmatch, found))):
        return None
    if any(("." in text or text.count(",") > 1) and _NUMBER.fullmatch(text) for text in stripped):
        return None
    return [text.replace(",", ".") if text in found else text for text in stripped]


def are_decimal_if_said(cells: Sequence[object]) -> bool:
    """Whether the commas of a column of a CSV would be read if somebody said that they are decimal.

    False where that has been said already, since the column is then read, or does not help.

    Example:
        >>> are_decimal_if_said(["12,5", "7"]), are_decimal_if_said(["12,5", "7.5"])
        (True, False)
    """
    return with_points([cell for cell in cells if isinstance(cell, str)], commas="always") is not None


def columns_with_points(frame: Frame, names: Collection[str], *, commas: Commas) -> tuple[Frame, tuple[str, ...]]:
    """A table whose columns of numbers are known, each read by `with_points`, and a note on those that have commas.

    Args:
        frame: The table, its cells as they are written.
        names: The columns of numbers; those that the table lacks are passed over.
        commas: When a comma is decimal.
    """
    if commas == "never":
        return frame, ()
    pointed, examples = frame.copy(), dict[str, str]()
    for name in names:
        texts = frame[name].tolist() if name in frame.columns else []
        if (read := with_points(texts, commas=commas)) is not None:
            pointed[name], examples[name] = read, example_of(texts)
    return pointed, comma_notes(examples)


def example_of(texts: Sequence[str]) -> str:
    """The first cell with a decimal comma."""
    return next(text.strip() for text in texts if DECIMAL_COMMA.fullmatch(text.strip()))


def comma_notes(examples: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence on columns that were read with decimal commas.

    Args:
        examples: The columns, and a cell of each.

    Example:
        >>> comma_notes({"size": "12,5", "age": "40,25"})
        ('read with decimal commas: size, age (12,5 is 12.5)',)
    """
    if not examples:
        return ()
    first = next(iter(examples.values()))
    return (f"read with decimal commas: {listed(examples)} ({first} is {first.replace(',', '.')})",)


def thousands_or_decimals(text: str) -> str:
    """What to do about a number such as 1,234.

    Example:
        >>> thousands_or_decimals("1,234")
        'Write 1234 for 1,234 if it separates thousands, else 1.234'
    """
    return f"Write {text.replace(',', '')} for {text} if it separates thousands, else {text.replace(',', '.')}"
