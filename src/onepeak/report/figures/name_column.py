"""Error against order: how far its axes reach, and where names go that stand in a column beside it."""

import itertools
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

Limits = tuple[float, float]

_FEWEST_LINES = 20
"""So many names, one below the other, have room beside the points, however the page is read."""
_NARROWEST = 0.02
"""Orders nearer to each other than this are drawn near: a trifle is not to look like a gulf."""


def limits_around(reaches: Iterable[Limits]) -> Limits:
    """Of an axis: all that is drawn, and a little around it.

    Args:
        reaches: From where to where each thing that is drawn reaches.
    """
    lows, highs = zip(*reaches, strict=True)
    low, high = min(lows), max(highs)
    margin = 0.06 * (high - low) or 0.06 * abs(high) or 0.5
    return low - margin, high + margin


def limits_of_order(reaches: Iterable[Limits]) -> Limits:
    """The same of an axis of order, which ends a little above 1 however far a deviation reaches.

    Example:
        >>> [round(limit, 4) for limit in limits_of_order([(1.0, 1.0), (0.9, 1.02)])]
        [0.894, 1.006]
    """
    lows, highs = zip(*reaches, strict=True)
    high = min(max(highs), 1.0)
    return limits_around([(min(*lows, high - _NARROWEST), high)])


def column_of_names(points: Mapping[str, tuple[float, float]], across: Limits, upward: Limits) -> dict[str, float]:
    """How high each name stands at the right of the picture: no two names touch, no two lines to them cross.

    Args:
        points: Error and order of each row.
        across: Limits of the axis of error, at whose end the names stand.
        upward: Limits of the axis of order.

    Example:
        >>> heights = column_of_names({"elb": (1.0, 0.5), "pn": (2.0, 0.5)}, (0.0, 3.0), (0.0, 1.0))
        >>> {row: round(height, 3) for row, height in heights.items()}
        {'elb': 0.475, 'pn': 0.525}
    """
    low, high = upward
    gap = (high - low) / max(_FEWEST_LINES, len(points) + 1)
    rows = sorted(points, key=lambda row: (points[row][1], points[row][0]))
    steps = gap * np.arange(len(rows))
    # Heights a gap or more apart are rising ones once the gaps are taken out.
    nearest = _rising(np.array([points[row][1] for row in rows]) - steps)
    heights = nearest.clip(low + gap / 2, high - gap / 2 - steps[-1]) + steps
    column = {row: float(height) for row, height in zip(rows, heights, strict=True)}
    # Two lines that cross are longer together than those with their ends exchanged, so that this comes to an end.
    while (pair := _crossing(points, column, across[1], nothing=1e-9 * (high - low) ** 2)) is not None:
        column.update(zip(pair, [column[row] for row in reversed(pair)], strict=True))
    return column


def _rising(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The rising sequence nearest to one by squared error: the highest of the lowest means of stretches around each."""
    sums = np.concatenate([[0.0], values.cumsum()])
    places = np.arange(len(values))
    starts, ends = places[:, None], places[None, :] + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(ends > starts, (sums[None, 1:] - sums[:-1, None]) / (ends - starts), np.inf)
    lowest = np.minimum.accumulate(means[:, ::-1], axis=1)[:, ::-1]  # over all ends from here on
    lowest[starts > places[None, :]] = -np.inf
    highest: npt.NDArray[np.float64] = lowest.max(axis=0)
    return highest


def _crossing(
    points: Mapping[str, tuple[float, float]], column: Mapping[str, float], side: float, *, nothing: float
) -> tuple[str, str] | None:
    """Two rows whose lines to their names cross, by more than nothing; None where no lines do."""
    for left, right in itertools.combinations(sorted(points, key=lambda row: points[row]), 2):
        (start, height), (place, other) = points[left], points[right]
        if place == side:  # it has no line
            continue
        passing = height + (column[left] - height) * (place - start) / (side - start)
        if (passing - other) * (column[left] - column[right]) < -nothing:
            return left, right
    return None
