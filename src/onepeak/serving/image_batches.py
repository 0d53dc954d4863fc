"""Groups a stream of images into batches of one size, with a bound on how many wait."""

from collections.abc import Iterator
from typing import TypeAlias, final

from onepeak._core.check import check_integer
from onepeak.serving.images import Pixels

Batch: TypeAlias = list[tuple[int, Pixels]]
"""Positions and images, all of one size."""

_MOST_BYTES = 256 * 2**20
_WINDOW = 8
"""How many batches' worth of later images one image waits for others of its size."""


@final
class SizeBatches:
    """Holds images until a batch of their size is full, or they have waited long enough.

    No image is padded or cropped, so only images of one size share a batch. If all sizes fill their batches, the
    batches are those of `onepeak.data.images.batches.evaluation_batches`.

    Args:
        batch_size: The most images per batch.

    Example:
        >>> import numpy as np
        >>> waiting = SizeBatches(2)
        >>> sides = [8, 9, 8, 8]
        >>> images = [np.zeros((side, side, 3), np.uint8) for side in sides]
        >>> batches = [batch for place, each in enumerate(images) for batch in waiting.add(place, each)]
        >>> [[place for place, _ in batch] for batch in [*batches, *waiting.rest()]]
        [[0, 2], [1], [3]]
    """

    def __init__(self, batch_size: int) -> None:
        self.batch_size = check_integer("batch_size", batch_size, minimum=1)
        self._waiting: dict[tuple[int, ...], Batch] = {}  # the size that has waited longest is first
        self._bytes = 0

    def add(self, place: int, pixels: Pixels) -> Iterator[Batch]:
        """Adds an image and yields the batches that are now ready. Positions must rise."""
        batch = self._waiting.setdefault(pixels.shape, [])
        batch.append((place, pixels))
        self._bytes += pixels.nbytes
        if len(batch) == self.batch_size:
            yield self._taken(pixels.shape)
        yield from self.overdue(place)

    def overdue(self, place: int) -> Iterator[Batch]:
        """Yields the batches that have waited long enough by this position."""
        while self._waiting:
            size, batch = next(iter(self._waiting.items()))
            if self._bytes <= _MOST_BYTES and place - batch[0][0] < _WINDOW * self.batch_size:
                return
            yield self._taken(size)

    def rest(self) -> Iterator[Batch]:
        """Yields all that still wait."""
        while self._waiting:
            yield self._taken(next(iter(self._waiting)))

    def _taken(self, size: tuple[int, ...]) -> Batch:
        batch = self._waiting.pop(size)
        self._bytes -= sum(pixels.nbytes for _, pixels in batch)
        return batch
