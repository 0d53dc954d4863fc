"""How light, contrasted, grainy and coloured the training pictures are, to know one that is unlike all of them."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak.data.store import ImageStore

_LOOKED_AT = 500
"""Pictures, spread over the training part."""
_FEWEST = 30
"""With fewer pictures the ends are nothing to go by: one in twenty new ones would be taken for another thing."""
_ENDS = (0.05, 0.95)
"""Shares of the pictures below the ends: some odd ones in the training part must not make others usual."""
_ROWS = 128
"""Of a picture that has twice as many rows and more, only some are looked at."""
_LEAST = {"brightness": 8.0, "contrast": 0.5, "grain": 0.5, "redness": 8.0, "yellowness": 8.0}
"""How far beyond the ends no picture counts as unlike, though the training pictures differ by less."""


@dataclass(frozen=True, kw_only=True)
class PictureRange:
    """Between which ends nine in ten pictures of the training part lie, by each of `picture_statistics`.

    Example:
        >>> ends = {"brightness": (90, 150), "contrast": (5, 6), "grain": (-4, -3), "redness": (0, 9)}
        >>> known = PictureRange(num_pictures=500, ends={**ends, "yellowness": (0, 9)})
        >>> known.outside(np.zeros((64, 64, 3), np.uint8))
        ('brightness', 'contrast', 'grain')
    """

    num_pictures: int
    """How many were looked at."""
    ends: dict[str, tuple[float, float]]
    """The lower and the upper one, by the name of the statistic."""

    def __post_init__(self) -> None:
        if self.ends.keys() != _LEAST.keys():
            raise TypeError(f"ends must be given of {', '.join(_LEAST)}")

    @staticmethod
    def learn(store: ImageStore, positions: npt.NDArray[np.int64]) -> "PictureRange | None":
        """Looks at some of the pictures at these positions, which should be the training part; None if they are few."""
        if len(positions) < _FEWEST:
            return None
        places = np.unique(np.linspace(0, len(positions) - 1, _LOOKED_AT).round().astype(np.int64))
        looked_at = [picture_statistics(store[place].permute(1, 2, 0).numpy()) for place in positions[places]]
        ends = {name: np.quantile([each[name] for each in looked_at], _ENDS).tolist() for name in _LEAST}
        return PictureRange(num_pictures=len(looked_at), ends={name: (low, high) for name, (low, high) in ends.items()})

    def outside(self, pixels: npt.NDArray[np.uint8]) -> tuple[str, ...]:
        """By which statistics a picture lies beyond either end by more than they are apart; by none where it is usual.

        Args:
            pixels: As the network sees it, height x width x 3.
        """
        found = picture_statistics(pixels)
        return tuple(name for name, (low, high) in self.ends.items() if _beyond(found[name], low, high, _LEAST[name]))


def picture_statistics(pixels: npt.NDArray[np.uint8]) -> dict[str, float]:
    r"""A few plain numbers of a picture.

    With :math:`g` the mean of the three colours at a pixel, from 0 to 255, brightness is the mean of :math:`g`, and
    contrast :math:`\log_2(1 + s)` of its standard deviation :math:`s`. Grain is :math:`\log_2 \frac{1 + d}{1 + s}` with
    :math:`d` the mean absolute difference of neighbours in a row: high for noise, low for what is smooth. Redness is
    how much more red than green there is, and yellowness how much more red and green than blue.

    Args:
        pixels: Height x width x 3.

    Example:
        >>> picture_statistics(np.array([[[8, 2, 2], [8, 8, 2]]], np.uint8))
        {'brightness': 5.0, 'contrast': 1.0, 'grain': 0.58..., 'redness': 3.0, 'yellowness': 4.5}
    """
    rows = pixels[:: max(1, len(pixels) // _ROWS)].astype(np.float32)
    red, green, blue = rows.mean(axis=(0, 1), dtype=np.float64).tolist()
    grey = rows @ np.full(3, 1 / 3, np.float32)
    spread = float(grey.std(dtype=np.float64))
    steps = np.abs(np.diff(grey, axis=1))
    step = float(steps.mean(dtype=np.float64)) if steps.size else 0.0
    return {
        "brightness": (red + green + blue) / 3,
        "contrast": math.log2(1 + spread),
        "grain": math.log2((1 + step) / (1 + spread)),
        "redness": red - green,
        "yellowness": (red + green) / 2 - blue,
    }


def _beyond(value: float, low: float, high: float, least: float) -> bool:
    return max(value - high, low - value) > max(high - low, least)
