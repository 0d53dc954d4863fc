"""Numbers in a column of text that are written for people: 1,234.50, 12 %, or 12,5 where it is not certain."""

import re
from collections.abc import Collection, Mapping

from onepeak._listing import listed
from onepeak.data.decimal_commas import DECIMAL_COMMA, SAY_SO, are_decimal_if_said, thousands_or_decimals
from onepeak.data.faults import FEW, Fault
from onepeak.data.frame_types import Column

_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})")
"""1,234.50 and 1.234,50; 1,234 may be either this or a decimal comma."""
_PERCENT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*%")
_NAMES = "or say with `category` (--category) that they are names"
_AFTER = "% \u00a0\u202f"
"""What may stand after the digits."""


def formatted_fault(column: Column, wrong: Mapping[int, str], *, few: bool, in_file: bool) -> Fault | None:
    """A fault of the column where nearly all of its cells that are no plain numbers are formatted ones.

    To leave their rows out would leave small or round numbers only. A single per cent sign, or a few decimal commas,
    may be slips.

    Args:
        column: The column, for its name and the names of its rows.
        wrong: The texts that are no plain numbers, by position.
        few: Whether they are few among the cells of the column.
        in_file: Whether they are those of a CSV, where another way to write them is enough: a point in a column of text
            makes no numbers of it.
    """
    grouped = {place: text for place, text in wrong.items() if _THOUSANDS.fullmatch(text)}
    percent = {place: text for place, text in wrong.items() if _PERCENT.fullmatch(text)}
    commas = {place: text for place, text in wrong.items() if DECIMAL_COMMA.fullmatch(text)}
    if not wrong or 10 * len(commas.keys() | grouped.keys() | percent.keys()) < 9 * len(wrong):
        return None
    plain = {place: text for place, text in grouped.items() if place not in commas}
    say_so = f", or {SAY_SO}" if are_decimal_if_said(column.tolist()) else ""
    if plain:
        found, what, first = grouped, "separators of thousands", next(iter(plain.values()))
        advice, call = f"Write {_rewritten(first)} for {first}", _in_pandas(column, plain.values())
    elif grouped and grouped.keys() == commas.keys():
        found, what, first = grouped, "a comma", next(iter(grouped.values()))
        advice = f"{thousands_or_decimals(first)}{say_so}"
        read = f"pandas.to_numeric(frame[{column.name!r}].str.replace(',', "
        call = f"{read}'')) if {first} is {first.replace(',', '')}, with {read}'.')) if it is {first.replace(',', '.')}"
    elif percent and not few:
        found, what, first = percent, "a per cent sign", next(iter(percent.values()))
        advice, call = f"Write {_rewritten(first)} for {first}", _in_pandas(column, percent.values())
    elif not few and are_commas(wrong):  # how the file is written, and no slip
        found, what = {}, f"a decimal comma, such as {next(iter(commas.values()))}"
        advice, call = f"Write them with a point{say_so}", _in_pandas(column, commas.values())
    else:
        return None
    shown = listed((f"{text!r} (row {column.index[place]})" for place, text in found.items()), limit=FEW)
    return Fault(
        places=(),
        sentence=f"The column {column.name!r} has numbers with {what}{f': {shown}' if shown else ''}",
        advice=f"{advice if in_file else f'Make it a column of numbers with {call}'}, {_NAMES}",
    )


def are_commas(wrong: Mapping[int, str]) -> bool:
    """Whether nearly all of these texts are numbers with a decimal comma."""
    return 10 * sum(DECIMAL_COMMA.fullmatch(text) is not None for text in wrong.values()) >= 9 * len(wrong)


def _rewritten(text: str) -> str:
    """The number as it should stand."""
    number = text.rstrip(_AFTER)
    for sign, point in _points(number).items():
        number = number.replace(sign, point)
    return number


def _points(number: str) -> dict[str, str]:
    """By what to replace points and commas: the last is decimal, if there is no other of its kind."""
    points = dict.fromkeys((sign for sign in number if sign in ",."), "")
    if points and number.count(last := list(points)[-1]) == 1:
        points[last] = "."
    return points


def _in_pandas(column: Column, texts: Collection[str]) -> str:
    """The call that makes numbers of a column with such texts."""
    widest = max(texts, key=lambda text: (len(_points(text)), "," in text))
    call = f"frame[{column.name!r}]"
    if widest.endswith("%"):
        after = {" ", *(sign for text in texts for sign in text if sign in _AFTER)}
        call += f".str.strip({''.join(sorted(after))!r})"
    replaced = (pair for pair in _points(widest).items() if pair[0] != pair[1])
    return f"pandas.to_numeric({call}{''.join(f'.str.replace({sign!r}, {point!r})' for sign, point in replaced)})"
