"""Brightness, contrast, grain and colour of the training images, to detect an image that is unlike all of them."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak.data.store import ImageStore

_LOOKED_AT = 500
"""Number of images examined, spread over the training part."""
_FEWEST = 30
"""With fewer images the ends are unreliable: one in twenty new images would be reported."""
_ENDS = (0.05, 0.95)
"""Quantiles used as ends: a few odd images in the training part must not make other odd images look usual."""
_ROWS = 128
"""An image with at least twice as many rows is subsampled."""
_LEAST = {"brightness": 8.0, "contrast": 0.5, "grain": 0.5, "redness": 8.0, "yellowness": 8.0}
"""An image this close to the ends is never reported, even if the training images vary less."""


@dataclass(frozen=True, kw_only=True)
class PictureRange:
    """The range that holds nine in ten images of the training part, for each of `picture_statistics`.

    Example:
        >>> ends = {"brightness": (90, 150), "contrast": (5, 6), "grain": (-4, -3), "redness": (0, 9)}
        >>> known = PictureRange(num_pictures=500, ends={**ends, "yellowness": (0, 9)})
        >>> known.outside(np.zeros((64, 64, 3), np.uint8))
        ('brightness', 'contrast', 'grain')
    """

    num_pictures: int
    """Number of images examined."""
    ends: dict[str, tuple[float, float]]
    """The lower and the upper end, by the name of the statistic."""

    def __post_init__(self) -> None:
        if self.ends.keys() != _LEAST.keys():
            raise TypeError(f"ends must be given for {', '.join(_LEAST)}")

    @staticmethod
    def learn(store: ImageStore, positions: npt.NDArray[np.int64]) -> "PictureRange | None":
        """Examines some of the images at these positions, which should be the training part; None if they are few."""
        if len(positions) < _FEWEST:
            return None
        places = np.unique(np.linspace(0, len(positions) - 1, _LOOKED_AT).round().astype(np.int64))
        looked_at = [picture_statistics(store[place].permute(1, 2, 0).numpy()) for place in positions[places]]
        ends = {name: np.quantile([each[name] for each in looked_at], _ENDS).tolist() for name in _LEAST}
        return PictureRange(num_pictures=len(looked_at), ends={name: (low, high) for name, (low, high) in ends.items()})

    def outside(self, pixels: npt.NDArray[np.uint8]) -> tuple[str, ...]:
        """Returns the statistics by which an image lies beyond either end by more than the width of the range.

        Args:
            pixels: The image as the network sees it, height x width x 3.
        """
        found = picture_statistics(pixels)
        return tuple(name for name, (low, high) in self.ends.items() if _beyond(found[name], low, high, _LEAST[name]))


def picture_statistics(pixels: npt.NDArray[np.uint8]) -> dict[str, float]:
    r"""Returns a few simple statistics of an image.

    With :math:`g` the mean of the three colours at a pixel, from 0 to 255, brightness is the mean of :math:`g`, and
    contrast is :math:`\log_2(1 + s)` with :math:`s` its standard deviation. Grain is :math:`\log_2 \frac{1 + d}{1 + s}`
    with :math:`d` the mean absolute difference of neighbours in a row: high for noise, low for smooth images. Redness
    is red minus green, and yellowness is the mean of red and green minus blue.

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
