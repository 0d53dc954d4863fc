"""How a method looks: the same colour in every figure of every report, told apart without colour too."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Dash = Literal["solid", "dash", "dot", "dashdot"]
Symbol = Literal["circle", "square", "diamond", "triangle-up"]

FEWEST = 3
"""Pairs of runs without which no method is shown as the best and no difference called real: two differences that are
nearly equal by chance have a p-value as small as you like."""

_COLOURS = {
    "ce": "#7a7f87",  # the baseline is grey, and the paper's barrier stands out
    "ren": "#0072b2",
    "ld": "#56b4e9",
    "mv": "#009e73",
    "po": "#cc79a7",
    "pn": "#e69f00",
    "elb": "#d55e00",
    "slopes": "#7b61c4",
}
"""Six of Okabe and Ito's eight colours, which colour-blind people tell apart, and two that stand on black and white."""

_FURTHER = ("#a6761d", "#1b9aaa", "#b5485d", "#6b8e23", "#a020d8", "#30c05c", "#c77df0", "#f09060")
"""For all other methods, those of a user's own too: none looks like another, or like one of the above."""

_DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot")
_SYMBOLS: tuple[Symbol, ...] = ("circle", "square", "diamond", "triangle-up")


@dataclass(frozen=True, kw_only=True)
class Style:
    """The look of one row of the table in every figure."""

    colour: str
    """As `#rrggbb`."""
    dash: Dash
    symbol: Symbol


def styles(methods: Mapping[str, str]) -> dict[str, Style]:
    """The look of each row: its method's colour; rows of one colour differ in dash and symbol.

    Two methods share a colour only where there are more than colours.

    Example:
        >>> looks = styles({"ld": "ld", "ld-as_published": "ld"})
        >>> looks["ld"].colour == looks["ld-as_published"].colour, looks["ld-as_published"].dash
        (True, 'dash')
    """
    bases = {label: method.partition("+")[0] for label, method in methods.items()}  # "mv+elb" is a row of "mv"
    colours = _colours(set(bases.values()))
    seen: dict[str, int] = {}
    found = {}
    for label, base in bases.items():
        colour = colours[base]
        turn = seen.get(colour, 0)
        seen[colour] = turn + 1
        # The symbol moves on once more after each round of dashes, so that sixteen rows of a colour differ.
        symbol = _SYMBOLS[(turn + turn // len(_DASHES)) % len(_SYMBOLS)]
        found[label] = Style(colour=colour, dash=_DASHES[turn % len(_DASHES)], symbol=symbol)
    return found


def faint(colour: str, opacity: float) -> str:
    """The colour, seen through.

    Example:
        >>> faint("#0072b2", 0.25)
        'rgba(0,114,178,0.25)'
    """
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def _colours(names: set[str]) -> dict[str, str]:
    """Each name has a colour by itself, the same in every report; of those with the same, all but one get a free one.

    By the names alone, so that whoever looks need not load the catalog, and torch with it.
    """
    wanted = {name: _FURTHER[zlib.crc32(name.encode()) % len(_FURTHER)] for name in sorted(names - _COLOURS.keys())}
    keepers = {colour: name for name, colour in reversed(wanted.items())}
    of_absent = (colour for name, colour in _COLOURS.items() if name not in names)
    free = (colour for colour in (*_FURTHER, *of_absent) if colour not in keepers)
    found = {name: colour if keepers[colour] == name else next(free, colour) for name, colour in wanted.items()}
    return _COLOURS | found
