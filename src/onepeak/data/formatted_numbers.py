"""Numbers in a column of text that are written for people: 1,234.50, 12 %, or 12,5 where it is not certain."""

import re
from collections.abc import Mapping

from onepeak._listing import listed
from onepeak.data.decimal_commas import DECIMAL_COMMA, thousands_or_decimals
from onepeak.data.faults import FEW, Fault
from onepeak.data.frame_types import Column

_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
"""1,234.50 and 1.234,50; 1,234 may be either this or a decimal comma."""
_PERCENT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*%")
_NAMES = "or say with `category` (--category) that they are names"


def formatted_fault(column: Column, wrong: Mapping[int, str], *, few: bool, in_file: bool) -> Fault | None:
    """A fault of the column where nearly all of its cells that are no plain numbers are formatted ones.

    To leave their rows out would leave small or round numbers only. A single per cent sign, or a few decimal commas,
    may be slips.

    Args:
        column: The column, for its name and the names of its rows.
        wrong: The texts that are no plain numbers, by position.
        few: Whether they are few among the cells of the column.
        in_file: Whether they are those of a CSV.
    """
    grouped = {place: text for place, text in wrong.items() if _THOUSANDS.fullmatch(text)}
    percent = {place: text for place, text in wrong.items() if _PERCENT.fullmatch(text)}
    commas = {place: text for place, text in wrong.items() if DECIMAL_COMMA.fullmatch(text)}
    if not wrong or 10 * len(commas.keys() | grouped.keys() | percent.keys()) < 9 * len(wrong):
        return None
    plain = {place: text for place, text in grouped.items() if place not in commas}
    if plain:
        found, what, first = grouped, "separators of thousands", next(iter(plain.values()))
        advice = f"Write {_rewritten(first)} for {first}, {_NAMES}"
    elif grouped and grouped.keys() == commas.keys():
        found, what, first = grouped, "a comma", next(iter(grouped.values()))
        advice = f"{thousands_or_decimals(first, in_file=in_file)}, {_NAMES}"
    elif percent and not few:
        found, what, first = percent, "a per cent sign", next(iter(percent.values()))
        advice = f"Write {_rewritten(first)} for {first}, {_NAMES}"
    elif not few and are_commas(wrong):  # how the file is written, and no slip
        sentence = f"The column {column.name!r} has numbers with a decimal comma, such as {next(iter(commas.values()))}"
        return Fault(places=(), sentence=sentence, advice=f"Write them with a point, {_NAMES}")
    else:
        return None
    shown = listed((f"{text!r} (row {column.index[place]})" for place, text in found.items()), limit=FEW)
    return Fault(places=(), sentence=f"The column {column.name!r} has numbers with {what}: {shown}", advice=advice)


def are_commas(wrong: Mapping[int, str]) -> bool:
    """Whether nearly all of these texts are numbers with a decimal comma."""
    return 10 * sum(DECIMAL_COMMA.fullmatch(text) is not None for text in wrong.values()) >= 9 * len(wrong)


def _rewritten(text: str) -> str:
    """The number as it should stand: of points and commas only the last, if there is no other of its kind."""
    number = text.rstrip("% \u00a0\u202f")
    last = max(number.rfind(","), number.rfind("."))
    whole, part = (number, "") if last < 0 or number.count(number[last]) > 1 else (number[:last], number[last + 1 :])
    return whole.replace(",", "").replace(".", "") + (f".{part}" if part else "")
