"""Where the names of points go in a image: near them, and over nothing else."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak.report.figures.canvas import Printed, PrintedAxes

NEAR = 8.0
"""Pixels from a point to its name that need no line between them."""

FloatArray = npt.NDArray[np.float64]


class NoRoomError(ValueError):
    """Names cannot all be written without covering something."""


@dataclass(frozen=True)
class Boxes:
    """Boxes in pixels.

    Attributes:
        low: Lower left corners, one per row.
        high: Upper right corners.
    """

    low: FloatArray
    high: FloatArray

    def overlap(self, box: "Boxes") -> bool:
        """Whether any lies over the one given."""
        return bool(((self.low < box.high) & (self.high > box.low)).all(-1).any())

    def hold(self, points: FloatArray) -> bool:
        """Whether any has one of the points within."""
        return bool(((points[:, None] > self.low) & (points[:, None] < self.high)).all(-1).any())

    def joined(self, other: "Boxes") -> "Boxes":
        """All boxes of both."""
        return Boxes(np.concatenate([self.low, other.low]), np.concatenate([self.high, other.high]))

    def without(self, point: FloatArray) -> "Boxes":
        """Those that do not have the point within."""
        outside = ~((point > self.low) & (point < self.high)).all(-1)
        return Boxes(self.low[outside], self.high[outside])


def places_of_names(
    points: FloatArray,
    sizes: FloatArray,
    room: Boxes,
    *,
    drawn: FloatArray | None = None,
    tries: int | None = None,
) -> Boxes:
    """A box for each name, as near to its point as it covers no other name, point or line that leads to a name.

    One after another chooses; one that is left no place chooses first when all begin again.

    Args:
        points: Where the points are, in pixels.
        sizes: Width and height of the names.
        room: Where names may be.
        drawn: Further pixels that no name may cover; lines to names may.
        tries: How often they may begin before they have no room; ten times for each name if left out.
    """
    order = list(range(len(points)))
    for _ in range(10 * len(points) if tries is None else tries):
        chosen: dict[int, Boxes] = {}
        taken, lines = Boxes(points - 5, points + 5), np.empty((0, 2)) if drawn is None else drawn
        for place in order:
            point = points[place]
            apart = taken.without(point)  # a line may leave a point that lies on others
            for box in boxes_around(point, sizes[place]):
                line = np.linspace(point, np.clip(point, box.low[0], box.high[0]), 50)
                within = (box.low >= room.low).all() and (box.high <= room.high).all()
                if within and not (taken.overlap(box) or box.hold(lines) or apart.hold(line)):
                    break
            else:
                order.remove(place)
                order.insert(0, place)
                break
            chosen[place] = box
            taken, lines = taken.joined(box), np.concatenate([lines, line])
        if len(chosen) == len(points):
            boxes = [chosen[place] for place in range(len(points))]
            return Boxes(np.concatenate([box.low for box in boxes]), np.concatenate([box.high for box in boxes]))
    raise NoRoomError("There is no room for all names: draw a larger image.")


def boxes_around(point: FloatArray, size: FloatArray) -> Iterator[Boxes]:
    """Places for a name, the nearest first, and of these the one to the upper right."""
    for distance in range(6, 200, 4):
        for angle in np.pi / 8 * np.array([1, 0, 2, -1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]):
            middle = point + np.array([np.cos(angle), np.sin(angle)]) * (distance + size / 2)
            yield Boxes((middle - size / 2)[None], (middle + size / 2)[None])


def name_points(
    figure: Printed,
    axes: PrintedAxes,
    places: FloatArray,
    names: Sequence[str],
    colours: Sequence[str],
    *,
    drawn: FloatArray | None = None,
    tries: int | None = None,
) -> None:
    """Writes a name beside each point, and a thin line to it where it is not near; from then on the layout stays.

    Args:
        figure: The image.
        axes: Its axes, with all points drawn and limits that stay as they are.
        places: The points, as drawn: one per row.
        names: Of the points.
        colours: Of the names.
        drawn: What else no name should cover, as points along it; where there is no room, names do.
        tries: As of `places_of_names`.

    Raises:
        NoRoomError: Names cannot all be written without covering each other or a point; none is then.
    """
    figure.draw_without_rendering()  # from here on it is known which pixel a value is at
    points = axes.transData.transform(places)
    inches = figure.dpi_scale_trans  # so that names stay with their points at any number of pixels an inch
    texts = [
        axes.text(0, 0, name, fontsize=7, color=colour, ha="center", va="center", transform=inches)
        for name, colour in zip(names, colours, strict=True)
    ]
    extents = [text.get_window_extent() for text in texts]
    sizes = np.array([[extent.width, extent.height] for extent in extents]) + np.array([6, 2])
    window = axes.get_window_extent()
    room = Boxes(np.array([window.min]), np.array([window.max]))
    try:
        try:
            lines = None if drawn is None else axes.transData.transform(drawn)
            boxes = places_of_names(points, sizes, room, drawn=lines, tries=tries)
        except NoRoomError:
            if drawn is None:
                raise
            boxes = places_of_names(points, sizes, room, tries=tries)
    except NoRoomError:
        for text in texts:
            text.remove()
        raise
    figure.set_layout_engine("none")
    for text, point, colour, low, high in zip(texts, points, colours, boxes.low, boxes.high, strict=True):
        text.set_position(tuple((low + high) / 2 / figure.dpi))
        line = np.array([point, np.clip(point, low, high)])
        if np.linalg.norm(line[1] - line[0]) > NEAR:
            axes.plot(*(line / figure.dpi).T, color=colour, linewidth=0.5, transform=inches, zorder=0)


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
    """How high each name stands at the right of the image: no two names touch, no two lines to them cross.

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
