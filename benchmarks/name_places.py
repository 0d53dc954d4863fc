"""Where the names of points go in a picture: near them, and over nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

NEAR = 8.0
"""Pixels from a point to its name that need no line between them."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Boxes:
    """Boxes in pixels.

    Attributes:
        low: Lower left corners, one a row.
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


def places_of_names(points: FloatArray, sizes: FloatArray, room: Boxes) -> Boxes:
    """A box for each name, as near to its point as it covers no other name, point or line that leads to a name.

    One after another chooses; one that is left no place chooses first when all begin again.

    Args:
        points: Where the points are, in pixels.
        sizes: Width and height of the names.
        room: Where names may be.
    """
    order = list(range(len(points)))
    for _ in range(10 * len(points)):
        chosen: dict[int, Boxes] = {}
        taken, lines = Boxes(points - 5, points + 5), np.empty((0, 2))
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
    raise ValueError("There is no room for all names: draw a larger picture.")


def boxes_around(point: FloatArray, size: FloatArray) -> Iterator[Boxes]:
    """Places for a name, the nearest first, and of these the one to the upper right."""
    for distance in range(6, 200, 4):
        for angle in np.pi / 8 * np.array([1, 0, 2, -1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]):
            middle = point + np.array([np.cos(angle), np.sin(angle)]) * (distance + size / 2)
            yield Boxes((middle - size / 2)[None], (middle + size / 2)[None])


def name_points(figure: Figure, axes: Axes, places: FloatArray, names: Sequence[str], colours: Sequence[str]) -> None:
    """Writes a name beside each point, and a line to it where it is not near.

    Args:
        figure: The picture.
        axes: Its axes, with all points drawn and limits that stay as they are.
        places: The points, as drawn: one a row.
        names: Of the points.
        colours: Of the names.
    """
    figure.draw_without_rendering()  # from here on it is known which pixel a value is at
    points = axes.transData.transform(places)
    texts = [
        axes.text(0, 0, name, fontsize=7, color=colour, ha="center", va="center", transform=None)
        for name, colour in zip(names, colours, strict=True)
    ]
    extents = [text.get_window_extent() for text in texts]
    sizes = np.array([[extent.width, extent.height] for extent in extents])
    room = axes.get_window_extent()
    boxes = places_of_names(points, sizes + np.array([6, 2]), Boxes(np.array([room.min]), np.array([room.max])))
    for text, point, colour, low, high in zip(texts, points, colours, boxes.low, boxes.high, strict=True):
        text.set_position(tuple((low + high) / 2))
        line = np.array([point, np.clip(point, low, high)])
        if np.linalg.norm(line[1] - line[0]) > NEAR:
            axes.plot(*line.T, color=colour, linewidth=0.5, transform=None, zorder=0)
