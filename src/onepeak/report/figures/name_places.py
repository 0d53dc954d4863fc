"""Where the names of points go in a picture: near them, and over nothing else."""

from collections.abc import Iterator, Sequence
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
        kept = ~((point > self.low) & (point < self.high)).all(-1)
        return Boxes(self.low[kept], self.high[kept])


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
    raise NoRoomError("There is no room for all names: draw a larger picture.")


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
        figure: The picture.
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
