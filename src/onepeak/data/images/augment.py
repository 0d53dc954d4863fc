"""Random augmentation of training images: the settings, and the draws for each image and epoch."""

import enum
import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from onepeak._core.values import check_integer, check_number
from onepeak.errors import InputError


class _For(enum.IntEnum):
    """The purposes of random numbers. Never reuse or renumber a value: results would change."""

    TOP = 0
    LEFT = 1
    HORIZONTAL_FLIP = 2
    VERTICAL_FLIP = 3
    BRIGHTNESS = 4
    CONTRAST = 5
    SATURATION = 6
    HUE = 7
    COLOUR_ORDER = 8
    SHUFFLE = 9


@dataclass(frozen=True, kw_only=True)
class Augment:
    """Settings of the random augmentation of training images.

    An image smaller than the crop is enlarged, keeping its proportions, until the crop just fits: as in the paper,
    images are never padded. If many images are smaller than the crop, enlarge them once in the store
    (`Resize(short_side=crop, only_enlarge=True)`).
    """

    crop: int | None = None
    """Side of the random square crop. None uses whole images; all images of a batch must then have the same size."""
    horizontal_flip: bool = True
    """Whether to mirror half of the images left to right."""
    vertical_flip: bool = False
    """Whether to mirror half of the images top to bottom."""
    colour_jitter: tuple[float, float, float, float] | None = None
    """Strengths of brightness, contrast, saturation and hue, as in torchvision's `ColorJitter`."""

    def __post_init__(self) -> None:
        if self.crop is not None:
            check_integer("crop", self.crop, minimum=1)
        if self.colour_jitter is not None:
            if len(self.colour_jitter) != 4:
                raise InputError(
                    "`colour_jitter` must be four numbers (brightness, contrast, saturation, hue), "
                    f"got {self.colour_jitter!r}."
                )
            for name, strength in zip(("brightness", "contrast", "saturation"), self.colour_jitter[:3], strict=True):
                check_number(f"colour_jitter ({name})", strength, minimum=0.0)
            check_number("colour_jitter (hue)", self.colour_jitter[3], minimum=0.0, maximum=0.5)


@dataclass(frozen=True, kw_only=True, eq=False)
class Changes:
    """The random changes drawn for a batch: one row per image."""

    sizes: npt.NDArray[np.int64]
    """Height and width of the image that is cropped: as stored, or larger if the crop would not fit."""
    corners: npt.NDArray[np.int64]
    """Top and left of the crop."""
    crop: tuple[int, int]
    """Height and width of the crop."""
    horizontal_flip: npt.NDArray[np.bool_]
    vertical_flip: npt.NDArray[np.bool_]
    colour_factors: npt.NDArray[np.float64] | None
    """Factors for brightness, contrast and saturation, and the shift of hue."""
    colour_order: npt.NDArray[np.int64] | None
    """The order in which these four are applied."""


_COLOUR_ORDERS = np.array(list(itertools.permutations(range(4))))


def draw_changes(
    augment: Augment,
    samples: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    *,
    seed: int,
    epoch: int,
) -> Changes:
    """Draws the changes of each sample; they depend only on the seed, the epoch and the sample."""

    def draw(purpose: _For) -> npt.NDArray[np.float64]:
        return uniform(samples, seed=seed, epoch=epoch, purpose=purpose)

    crop = _whole(sizes) if augment.crop is None else (augment.crop, augment.crop)
    sizes = _enlarged(sizes, augment.crop) if augment.crop is not None else sizes
    room = sizes - np.array(crop) + 1
    never = np.zeros(len(samples), bool)
    factors = order = None
    if augment.colour_jitter is not None:
        strengths = np.array(augment.colour_jitter)
        lowest = np.append(np.maximum(0.0, 1.0 - strengths[:3]), -strengths[3])
        highest = np.append(1.0 + strengths[:3], strengths[3])
        drawn = np.stack([draw(purpose) for purpose in (_For.BRIGHTNESS, _For.CONTRAST, _For.SATURATION, _For.HUE)], 1)
        factors = lowest + (highest - lowest) * drawn
        order = _COLOUR_ORDERS[(draw(_For.COLOUR_ORDER) * len(_COLOUR_ORDERS)).astype(np.int64)]
    return Changes(
        sizes=sizes,
        corners=(np.stack([draw(_For.TOP), draw(_For.LEFT)], 1) * room).astype(np.int64),
        crop=crop,
        horizontal_flip=draw(_For.HORIZONTAL_FLIP) < 0.5 if augment.horizontal_flip else never,
        vertical_flip=draw(_For.VERTICAL_FLIP) < 0.5 if augment.vertical_flip else never,
        colour_factors=factors,
        colour_order=order,
    )


def shuffled(samples: npt.NDArray[np.int64], *, seed: int, epoch: int) -> npt.NDArray[np.int64]:
    """The order in which an epoch visits samples, as positions in `samples`."""
    return np.argsort(uniform(samples, seed=seed, epoch=epoch, purpose=_For.SHUFFLE), kind="stable")


def _whole(sizes: npt.NDArray[np.int64]) -> tuple[int, int]:
    if len(sizes) and (sizes != sizes[0]).any():
        raise InputError(
            "`crop` must be given for images of different sizes, got a batch with "
            f"{' and '.join(f'{height} x {width}' for height, width in np.unique(sizes, axis=0)[:2].tolist())}."
        )
    return (int(sizes[0, 0]), int(sizes[0, 1])) if len(sizes) else (0, 0)


def _enlarged(sizes: npt.NDArray[np.int64], crop: int) -> npt.NDArray[np.int64]:
    shorter = np.minimum(sizes[:, :1], sizes[:, 1:])
    larger: npt.NDArray[np.int64] = np.maximum((sizes * (crop / shorter) + 0.5).astype(np.int64), crop)
    return np.where(shorter < crop, larger, sizes)


_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def uniform(samples: npt.NDArray[np.int64], *, seed: int, epoch: int, purpose: int) -> npt.NDArray[np.float64]:
    """Returns one number in [0, 1) for each sample.

    Example:
        >>> alone = uniform(np.array([8]), seed=0, epoch=3, purpose=1)
        >>> among_others = uniform(np.array([7, 8]), seed=0, epoch=3, purpose=1)
        >>> bool(among_others[1] == alone[0])
        True
    """
    state = np.zeros(1, np.uint64)
    for counter in (seed, epoch, purpose):
        state = _mixed(state + _GAMMA * np.array([counter % 2**64], np.uint64) + _GAMMA)
    bits = _mixed(_mixed(state + _GAMMA * samples.astype(np.uint64) + _GAMMA))
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mixed(state: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of SplitMix64: every bit of the result depends on every bit of the state."""
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    return state ^ (state >> np.uint64(31))
