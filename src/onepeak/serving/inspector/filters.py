"""Which samples are shown, and in which order: what the address of the page of samples says."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Sort: TypeAlias = Literal["item", "error", "disorder", "order", "unsure", "sure"]

SORTS: dict[Sort, str] = {
    "item": "Order of the data",
    "error": "Largest error first",
    "disorder": "Lowest SOI first",
    "order": "Highest SOI first",
    "unsure": "Least sure first",
    "sure": "Most sure first",
}
"""The orders, as the page names them."""


@dataclass(frozen=True, kw_only=True)
class Filter:
    """What is asked for; what is left at its default does not restrict."""

    method: str
    """A row of the table."""
    part: str | None = None
    """A split and fold, as `Run.part` writes them."""
    truth: int | None = None
    """The true class."""
    predicted: int | None = None
    min_error: int = 0
    """In classes."""
    soi_below: float | None = None
    paradoxical: bool = False
    """Only samples whose second most probable class is no neighbour of the first."""
    search: str = ""
    """A part of the sample's name, in any case of letters."""
    sort: Sort = "item"
