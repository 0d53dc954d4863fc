"""How unlike the training images an image is: in the features of the network, in brightness, grain and colour."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import normalize

from onepeak._core.files import write_in_one_step
from onepeak._core.imports import require
from onepeak.data.images.store.images import ImageStore
from onepeak.errors import InputError
from onepeak.networks.network import Network
from onepeak.posterior.conformal import conformal_threshold, samples_needed
from onepeak.training.feed import Feed, Indices

if TYPE_CHECKING:
    from lightning.fabric import Fabric


FILE = "familiarity.safetensors"
FALSE_MARKS = 0.05
"""Share of validation images that lie beyond the threshold."""
_REFERENCES = 500
_MOST_TEXTS = 5000
_FEWEST = 30
"""With fewer training images nothing is learnt: one in twenty new images would be reported."""
_MOST_VALID = 1000
_MOST_AXES = 16
_LEAST_THRESHOLD = 1e-3
"""The smallest threshold: copies of the training images in the validation part would set it to 0."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Familiarity:
    """The directions of some training images in feature space, and how far from them usual images lie.

    The distance is that to the nearest of these directions, on the unit sphere, as a multiple of the distance that 95 %
    of the validation images stay within. Beyond 1, an image is unlike the training. Directions rather than positions,
    and the nearest rather than the mean: on photographs of eyes, faces and leaves that marks foreign images best
    (results/trust).
    """

    references: Tensor
    """float16, images x features: the direction of each."""
    threshold: float
    inputs: tuple[int, int] | None = None
    """For texts: the columns of the network's input that are their encoder's features, which tell more than those of
    the small network on top."""

    def seen(self, inputs: Tensor, features: Tensor) -> Tensor:
        """Returns what distances are measured in, of the network's input and its features."""
        return features if self.inputs is None else inputs[:, slice(*self.inputs)]

    def distance(self, features: Tensor) -> Tensor:
        """Returns the relative distance of each sample to the nearest training image.

        Example:
            >>> known = Familiarity(references=torch.eye(2).half(), threshold=0.5)
            >>> known.distance(torch.tensor([[3.0, 0.0], [1.0, 1.0]]))
            tensor([0.0000, 1.5307])
        """
        nearest = (normalize(features.float()) @ normalize(self.references.to(features.device).float()).T).amax(dim=1)
        return (2 - 2 * nearest).clamp(min=0).sqrt() / self.threshold

    def coordinates(self, features: Tensor) -> Tensor:
        """Returns where each sample lies on the few axes along which training images differ most, the widest first."""
        middle, axes = (each.to(features.device) for each in self._axes)
        return (normalize(features.float()) - middle) @ axes.T

    @cached_property
    def _axes(self) -> tuple[Tensor, Tensor]:
        references = normalize(self.references.cpu().float())
        middle = references.mean(dim=0)
        axes = torch.linalg.svd(references - middle, full_matrices=False).Vh[:_MOST_AXES]
        return middle, axes * axes.sum(dim=1, keepdim=True).sign()  # an axis and its opposite are equally good


@torch.inference_mode()
def familiarity_of(
    network: Network,
    feed: Feed,
    train: Indices,
    valid: Indices,
    *,
    fabric: "Fabric",
    batch_size: int,
    inputs: tuple[int, int] | None = None,
) -> Familiarity | None:
    """Learns from samples spread over the training part, and from the validation part; None if these are few."""
    if len(train) < _FEWEST or len(valid) < samples_needed(FALSE_MARKS):
        return None
    known = Familiarity(references=torch.empty(0), threshold=1.0, inputs=inputs)
    most = _REFERENCES if inputs is None else _MOST_TEXTS
    features = [
        _features(known, network, feed, _spread(part, most), fabric=fabric, batch_size=batch_size)
        for part, most in ((train, most), (valid, _MOST_VALID))
    ]
    known = replace(known, references=normalize(features[0]).half())
    threshold = conformal_threshold(known.distance(features[1]), FALSE_MARKS)
    return replace(known, threshold=max(float(f"{threshold:.6g}"), _LEAST_THRESHOLD))


def _features(
    known: Familiarity, network: Network, feed: Feed, indices: Indices, *, fabric: "Fabric", batch_size: int
) -> Tensor:
    found: Tensor | None = None
    for places, inputs in feed.evaluation_inputs(indices, batch_size=batch_size):
        with fabric.autocast():
            batch = known.seen(inputs, network.with_features(inputs)[1]).float().cpu()
        found = torch.empty(len(indices), batch.shape[1]) if found is None else found
        found[places] = batch
    assert found is not None
    return found.nan_to_num()


def _spread(indices: Indices, most: int) -> Indices:
    places = torch.linspace(0, len(indices) - 1, min(len(indices), most)).round().long().numpy()
    chosen: Indices = indices[places]
    return chosen


def save_familiarity(folder: Path, known: Familiarity | None) -> None:
    """Writes the file beside the model's; no image can be seen from it."""
    if known is None:
        (folder / FILE).unlink(missing_ok=True)
        return
    tensors = {"references": known.references, "threshold": torch.tensor(known.threshold, dtype=torch.float64)}
    if known.inputs is not None:
        tensors["inputs"] = torch.tensor(known.inputs)
    safetensors = require("safetensors.torch", extra="train", purpose="Saving a model")
    write_in_one_step(folder / FILE, lambda part: safetensors.save_file(tensors, part))


def load_familiarity(folder: Path) -> Familiarity | None:
    """Reads the file; None for a model without, as of an earlier version."""
    if not (folder / FILE).is_file():
        return None
    safetensors = require("safetensors.torch", extra="train", purpose="Loading a model")
    try:
        tensors = safetensors.load_file(folder / FILE)
        inputs = tuple(tensors["inputs"].tolist()) if "inputs" in tensors else None
        return Familiarity(references=tensors["references"], threshold=float(tensors["threshold"]), inputs=inputs)
    except Exception as error:  # safetensors raises its own classes
        raise InputError(
            f"{folder / FILE} must be what onepeak wrote, got a file that cannot be read: {error}."
        ) from None


_LOOKED_AT = 500
"""Number of images examined, spread over the training part."""
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
            raise InputError(f"`ends` must be given for {', '.join(_LEAST)}.", argument="ends")

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
