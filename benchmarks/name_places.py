"""Where the names of points go in a picture: near them, and over nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
