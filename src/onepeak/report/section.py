"""One part of a report: a figure, or several that belong together, with what they show in words."""

from dataclasses import dataclass
from typing import Literal

from onepeak.report.figures.canvas import Interactive, Printed
from onepeak.report.wide import WideTable

Layout = Literal["wide", "pair", "grid"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Chart:
    """One interactive figure."""

    figure: Interactive
    name: str = ""
    """Above it, where several stand beside each other."""
    caption: str = ""
    """Below it, where there is something to say of this one."""

    @property
    def json(self) -> str:
        """As a script element of the page holds it, which only "<" could end early."""
        text: str = self.figure.to_json().replace("<", "\\u003c")
        return text


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A slider over predicted labels."""

    names: tuple[str, ...]
    first: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Card:
    """One paradoxical prediction."""

    text: str
    name: str
    picture: str | None
    """As a data address."""
    features: str
    chart: Chart


@dataclass(frozen=True, kw_only=True, eq=False)
class Section:
    """One figure, or several that belong together, with what they show in words."""

    name: str
    """Of the files for print."""
    title: str
    text: str
    charts: tuple[Chart, ...]
    printed: Printed
    layout: Layout = "wide"
    choice: Choice | None = None
    cards: tuple[Card, ...] = ()
    table: WideTable | None = None
