"""The filter and order of the samples page, as given in its address."""

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
"""The sort orders, as the page names them."""


@dataclass(frozen=True, kw_only=True)
class Filter:
    """A filter; defaults do not restrict."""

    method: str
    """A row of the overview table."""
    part: str | None = None
    """A split and fold, as `Run.part` writes them."""
    truth: int | None = None
    """The true class."""
    predicted: int | None = None
    min_error: int = 0
    """In classes."""
    soi_below: float | None = None
    paradoxical: bool = False
    """Only samples whose second most probable class is not adjacent to the first."""
    search: str = ""
    """A part of the sample's name, case-insensitive."""
    sort: Sort = "item"
