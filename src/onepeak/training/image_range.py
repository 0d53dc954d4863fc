"""Brightness, contrast, grain and colour of the training images, to detect an image that is unlike all of them."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from onepeak._core.tensors import Labels
from onepeak.data.images.store.images import ImageStore
from onepeak.errors import InputError
from onepeak.methods.method import Method
from onepeak.networks.head import MapHead
from onepeak.networks.network import Network
from onepeak.training.feed import Feed, Indices

if TYPE_CHECKING:
    from lightning.fabric import Fabric

_LOOKED_AT = 500
"""Number of images examined, spread over the training part."""
_FEWEST = 30
"""With fewer images the ends are unreliable: one in twenty new images would be reported."""
_ENDS = (0.05, 0.95)
"""Quantiles used as ends: a few odd images in the training part must not make other odd images look usual."""
_ROWS = 128
"""An image with at least twice as many rows is subsampled."""
_GREY = 0.05
"""Share of grey images up to which the training counts as coloured."""
_LEAST = {"brightness": 8.0, "contrast": 0.5, "grain": 0.5, "redness": 8.0, "yellowness": 8.0}
"""An image this close to the ends is never reported, even if the training images vary less."""


@dataclass(frozen=True, kw_only=True)
class ImageRange:
    """The range that holds nine in ten images of the training part, for each of `image_statistics`.

    Example:
        >>> ends = {"brightness": (90, 150), "contrast": (5, 6), "grain": (-4, -3), "redness": (0, 9)}
        >>> known = ImageRange(num_images=500, ends={**ends, "yellowness": (0, 9)})
        >>> known.outside(np.zeros((64, 64, 3), np.uint8))
        ('brightness', 'contrast', 'grain')
    """

    num_images: int
    """Number of images examined."""
    ends: dict[str, tuple[float, float]]
    """The lower and the upper end, by the name of the statistic."""
    coloured: bool = False
    """Whether nearly all of them have colour; unknown in models of earlier versions."""

    def __post_init__(self) -> None:
        if self.ends.keys() != _LEAST.keys():
            raise TypeError(f"ends must be given for {', '.join(_LEAST)}")

    @staticmethod
    def learn(store: ImageStore, positions: npt.NDArray[np.int64]) -> "ImageRange | None":
        """Examines some of the images at these positions, which should be the training part; None if they are few."""
        if len(positions) < _FEWEST:
            return None
        places = np.unique(np.linspace(0, len(positions) - 1, _LOOKED_AT).round().astype(np.int64))
        looked_at = [image_statistics(store[place].permute(1, 2, 0).numpy()) for place in positions[places]]
        ends = {name: np.quantile([each[name] for each in looked_at], _ENDS).tolist() for name in _LEAST}
        grey = sum(is_grey(store[place].permute(1, 2, 0).numpy()) for place in positions[places])
        return ImageRange(
            num_images=len(looked_at),
            ends={name: (low, high) for name, (low, high) in ends.items()},
            coloured=grey <= _GREY * len(looked_at),
        )

    def outside(self, pixels: npt.NDArray[np.uint8]) -> tuple[str, ...]:
        """Returns the statistics by which an image lies beyond either end by more than the width of the range.

        An image without colour has "no colour" among them if those of the training have it.
        """
        found = image_statistics(pixels)
        far = [name for name, (low, high) in self.ends.items() if _beyond(found[name], low, high, _LEAST[name])]
        return (*far, *(("no colour",) if self.coloured and is_grey(pixels) else ()))


def is_grey(pixels: npt.NDArray[np.uint8]) -> bool:
    """Whether red, green and blue hardly differ anywhere, as in a grey copy that was saved as JPEG."""
    rows = pixels[:: max(1, len(pixels) // _ROWS)]
    return float((rows.max(axis=2) - rows.min(axis=2)).mean()) < 1


def image_statistics(pixels: npt.NDArray[np.uint8]) -> dict[str, float]:
    r"""Returns a few simple statistics of an image.

    With :math:`g` the mean of the three colours at a pixel, from 0 to 255, brightness is the mean of :math:`g`, and
    contrast is :math:`\log_2(1 + s)` with :math:`s` its standard deviation. Grain is :math:`\log_2 \frac{1 + d}{1 + s}`
    with :math:`d` the mean absolute difference of neighbours in a row: high for noise, low for smooth images. Redness
    is red minus green, and yellowness is the mean of red and green minus blue.

    Example:
        >>> image_statistics(np.array([[[8, 2, 2], [8, 8, 2]]], np.uint8))
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


MOST_IMAGES = 64
"""Number of images examined: enough for a scale, and few compared with training."""
SHARE = 0.9
"""Share of those images whose brightest place lies within the scale."""
_LEAST_EVIDENCE_RANGE = 1.0
"""Shortest length of the scale: smaller differences between classes are negligible."""


@torch.inference_mode()
def evidence_range(
    network: Network, feed: Feed, indices: Indices, predicted: Labels, *, fabric: "Fabric", batch_size: int
) -> tuple[float, float] | None:
    """Returns the evidence drawn as nothing and the evidence drawn brightest, on every map of a model.

    The lower end is the evidence for a class that is no more likely than the others. It is 0, because maps show a score
    minus the mean over classes; for methods without class scores it is the log-probability of chance. The upper end
    bounds the highest evidence for the predicted class in nine of ten images.
    """
    if not isinstance(network.head, MapHead) or not len(indices):
        return None
    chosen = torch.linspace(0, len(indices) - 1, min(len(indices), MOST_IMAGES)).round().long()
    highest = torch.empty(len(chosen))
    for places, inputs in feed.evaluation_inputs(indices[chosen.numpy()], batch_size=batch_size):
        labels = predicted[chosen[places]].to(inputs.device)
        with fabric.autocast():
            maps = network.class_evidence(inputs, labels)
        highest[places] = maps.amax(dim=(1, 2)).float().cpu()
    low = _even(network.method, network.head.classifier.weight.device)
    high = float(highest.nan_to_num(nan=low, neginf=low).quantile(SHARE))
    return low, max(float(f"{high:.4g}"), low + _LEAST_EVIDENCE_RANGE)


def _even(method: Method, device: torch.device) -> float:
    """Returns the evidence for a class that is no more likely than the others."""
    try:
        method.class_scores(torch.zeros(1, method.num_outputs, device=device))
    except InputError:  # the method has no class scores
        return float(f"{-math.log(method.num_classes):.4g}")
    return 0.0
