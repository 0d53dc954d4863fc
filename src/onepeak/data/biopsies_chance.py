"""Random numbers of `biopsies`: an item always gets the same ones, on every machine and in any selection of items."""

from enum import IntEnum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int64]


class Use(IntEnum):
    """The uses of random numbers. Each has its own stream, so that a change to one does not shift the others."""

    PATIENT_SEVERITY = 0
    PATIENT_NUCLEI = 1
    PATIENT_STAIN = 2
    SEVERITY = 3
    LABEL = 4
    TRAITS = 5
    TUMOUR = 6
    LYMPHOCYTES = 7
    SPINDLES = 8
    FIBRES = 9
    TISSUE = 10
    NOISE = 11


class Chance:
    """Random numbers for each of several ids; they depend only on `(seed, use, id)`.

    Args:
        seed: Seed of the data set.
        use: The use of the numbers.
        ids: Numbers of the images or patients; a repeated id gets the same numbers.

    Example:
        >>> alone = Chance(0, Use.LABEL, np.array([7])).between(0.0, 1.0, 3)
        >>> among_others = Chance(0, Use.LABEL, np.array([2, 7])).between(0.0, 1.0, 3)
        >>> bool((among_others[1] == alone[0]).all())
        True
    """

    def __init__(self, seed: int, use: Use, ids: Indices) -> None:
        self._streams = [np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(int(use), int(i)))) for i in ids]

    def between(self, low: float, high: float, *shape: int) -> Array:
        """Draws uniformly from the open interval (ids x shape)."""
        # NumPy guarantees the raw bits of a bit generator across versions, but not its distributions.
        bits = np.empty((len(self._streams), int(np.prod(shape))), dtype=np.uint64)
        for row, stream in zip(bits, self._streams, strict=True):
            row[:] = stream.random_raw(bits.shape[1])
        unit = ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
        return (low + (high - low) * unit).reshape(len(bits), *shape)

    def around_zero(self, width: float, *shape: int) -> Array:
        """Draws from the triangular distribution on +-width, the sum of two uniforms (ids x shape)."""
        first, second = np.moveaxis(self.between(-width / 2, width / 2, 2, *shape), 1, 0)
        both: Array = first + second
        return both

    def direction(self, *shape: int) -> Array:
        """Draws unit vectors (ids x shape x 2)."""
        vector = self.between(-1.0, 1.0, *shape, 2)
        x, y = vector[..., 0], vector[..., 1]
        return vector / np.sqrt(x * x + y * y)[..., None]
