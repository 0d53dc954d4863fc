"""Batches of images: for training randomly augmented, by draws for each image and epoch; for evaluation whole."""

import enum
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from onepeak._core.values import check_integer, check_number
from onepeak.data.images.store.images import ImageStore
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
    sizes = _enlarged_sizes(sizes, augment.crop) if augment.crop is not None else sizes
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


def _enlarged_sizes(sizes: npt.NDArray[np.int64], crop: int) -> npt.NDArray[np.int64]:
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


Positions = Sequence[int] | npt.NDArray[np.int64] | Tensor


def train_batch(
    store: ImageStore,
    indices: Positions,
    augment: Augment,
    *,
    seed: int,
    epoch: int,
    device: torch.device | str | None = None,
) -> Tensor:
    """Returns a batch of augmented images from a store, on `device` or that of the store, where colours change too.

    The augmentation of an image depends only on the seed, the epoch and the image. The images are uint8, batch x 3 x
    crop x crop, channels last in memory; see `onepeak.networks.inputs.normalise`.
    """
    check_integer("seed", seed, minimum=0)
    check_integer("epoch", epoch, minimum=0)
    positions = _checked(store, indices)
    changes = draw_changes(augment, store.kept[positions], store.sizes[positions], seed=seed, epoch=epoch)
    batch = _moved(cut(store, positions, changes), device)
    if changes.colour_factors is None or changes.colour_order is None:
        return batch
    return jitter(batch, changes.colour_factors, changes.colour_order)


def evaluation_batches(
    store: ImageStore,
    indices: Positions,
    *,
    batch_size: int,
    device: torch.device | str | None = None,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yields whole images as stored, each once. A batch holds images of one size, so none is padded.

    Sizes come in ascending order, images of the same size in the order of `indices`. Each batch comes with the
    positions in `indices` that make it up (int64, on the CPU): `results[indices] = ...` restores their order.
    """
    check_integer("batch_size", batch_size, minimum=1)
    positions = _checked(store, indices)
    sizes = store.sizes[positions]
    order = np.lexsort((sizes[:, 1], sizes[:, 0]))  # stable, so equal sizes keep their order
    borders = np.flatnonzero((np.diff(sizes[order], axis=0) != 0).any(axis=1)) + 1
    whole = Augment(horizontal_flip=False)
    for group in np.split(order, borders) if len(order) else []:
        for start in range(0, len(group), batch_size):
            batch = group[start : start + batch_size]
            changes = draw_changes(whole, store.kept[positions[batch]], sizes[batch], seed=0, epoch=0)
            yield torch.from_numpy(batch), _moved(cut(store, positions[batch], changes), device)


def _checked(store: ImageStore, indices: Positions) -> npt.NDArray[np.int64]:
    positions = indices.cpu().numpy() if isinstance(indices, Tensor) else np.asarray(indices)
    if positions.ndim != 1 or (positions.size and not np.issubdtype(positions.dtype, np.integer)):
        raise InputError(
            f"`indices` must be a flat sequence of integers, got {positions.dtype} of shape {tuple(positions.shape)}."
        )
    if positions.size and not 0 <= positions.min() <= positions.max() < len(store):
        raise InputError(
            f"`indices` must be positions from 0 to {len(store) - 1}, got {positions.min()} to {positions.max()}."
        )
    return positions.astype(np.int64)


def _moved(batch: Tensor, device: torch.device | str | None) -> Tensor:
    if device is None:
        return batch
    if batch.device.type == "cpu" and torch.device(device).type == "cuda":
        batch = batch.pin_memory()  # the copy overlaps with the preparation of the next batch
    return batch.to(device, non_blocking=True)


def cut(store: ImageStore, positions: npt.NDArray[np.int64], changes: Changes) -> Tensor:
    """Returns the crops as uint8, batch x 3 x height x width, channels last in memory, with unchanged colours."""
    height, width = changes.crop
    small = (changes.sizes != store.sizes[positions]).any(axis=1)
    if store.device.type == "cpu":
        batch = torch.empty(len(positions), height, width, 3, dtype=torch.uint8)
        for row in np.flatnonzero(~small).tolist():
            _copy(batch[row], store[positions[row]].permute(1, 2, 0), changes, row)
    else:
        batch = gather(store, crop_table(store, positions, changes), changes.crop)
    for row in np.flatnonzero(small).tolist():
        image = _enlarged(store[positions[row]], changes.sizes[row].tolist())
        _copy(batch[row], image.permute(1, 2, 0), changes, row)
    return batch.permute(0, 3, 1, 2)


def _copy(target: Tensor, image: Tensor, changes: Changes, row: int) -> None:
    """Copies one crop by slicing. On a CPU this is ten times as fast as a gather: rows of a crop are contiguous."""
    height, width = changes.crop
    top, left = changes.corners[row].tolist()
    crop = image[top : top + height, left : left + width]
    mirrored = [axis for axis, flips in enumerate((changes.vertical_flip, changes.horizontal_flip)) if flips[row]]
    target.copy_(crop.flip(mirrored) if mirrored else crop)


def crop_table(store: ImageStore, positions: npt.NDArray[np.int64], changes: Changes) -> Tensor:
    """Returns what `gather` needs to know about each crop, one column per image, on the store's device."""
    first = store.offsets[positions] // 3  # in pixels: three bytes each
    flips = (changes.vertical_flip, changes.horizontal_flip)
    table = np.stack([first, store.sizes[positions, 1], *changes.corners.T, *flips])
    return torch.from_numpy(table).to(store.device)


def gather(store: ImageStore, table: Tensor, crop: tuple[int, int]) -> Tensor:
    """Cuts all crops with one gather, channels last: a few kernel launches per batch, not one or two per image.

    For images that must be enlarged the result is arbitrary; `cut` overwrites it.
    """
    height, width = crop
    first_pixel, row_length, top, left, upside_down, mirrored = table.unsqueeze(-1)
    down = torch.arange(height, device=store.device)
    across = torch.arange(width, device=store.device)
    rows = top + torch.where(upside_down.bool(), height - 1 - down, down)
    columns = left + torch.where(mirrored.bool(), width - 1 - across, across)
    pixels = store.pixels.view(-1, 3)
    where = (first_pixel + rows * row_length).unsqueeze(-1) + columns.unsqueeze(-2)
    return pixels[where.clamp_(max=len(pixels) - 1)]


def _enlarged(image: Tensor, size: list[int]) -> Tensor:
    larger = functional.interpolate(image.unsqueeze(0).float(), size, mode="bilinear", align_corners=False)
    return larger.round_().to(torch.uint8).squeeze(0)


_GREY = (0.2989, 0.587, 0.114)  # ITU-R BT.601, rounded as in torchvision
_CONTRAST, _SATURATION, _HUE = 1, 2, 3  # positions in Augment.colour_jitter; brightness is 0


def blend(images: Tensor, factors: Tensor, *, from_mean: Tensor, from_grey: Tensor) -> Tensor:
    """Blends each image with a base by its factor: 0 gives the base, 1 the image itself.

    The base is the mean grey of the image where `from_mean` is 1 (contrast), the grey of each pixel where `from_grey`
    is 1 (saturation), and otherwise black (brightness).
    """
    weights = torch.tensor(_GREY, device=images.device, dtype=images.dtype).view(3, 1, 1)
    grey = (images * weights).sum(dim=-3, keepdim=True)
    mean = grey.mean(dim=(-2, -1), keepdim=True)
    base = _each(from_mean) * mean + _each(from_grey) * grey
    return (_each(factors) * images + (1 - _each(factors)) * base).clamp_(0, 1)


def turn_hue(images: Tensor, shifts: Tensor) -> Tensor:
    """Rotates the hue: a shift of 0 changes nothing, 0.5 and -0.5 give the opposite colour."""
    red, green, blue = images.unbind(-3)
    value, largest = images.max(dim=-3)
    spread = value - images.amin(dim=-3)
    # A grey pixel has no hue: a divisor of one avoids division by zero, and its spread of zero keeps it grey.
    divisor = torch.where(spread == 0, 1, spread)
    ahead = torch.stack([green - blue, blue - red, red - green], dim=-3).gather(-3, largest.unsqueeze(-3)).squeeze(-3)
    hue = (ahead / divisor + 2 * largest) / 6 + shifts.view(-1, 1, 1)
    # The closed form of the six cases of the colour wheel: each colour is the value minus a part of the spread, which
    # depends on the distance of its angle on the circle from the hue.
    angles = torch.tensor([5.0, 3.0, 1.0], device=images.device, dtype=images.dtype).view(3, 1, 1)
    around = (angles + 6 * hue.unsqueeze(-3)).remainder(6)
    fall = torch.minimum(around, 4 - around).clamp_(0, 1)
    return (value.unsqueeze(-3) - spread.unsqueeze(-3) * fall).clamp_(0, 1)


def jitter(images: Tensor, factors: npt.NDArray[np.float64], order: npt.NDArray[np.int64]) -> Tensor:
    """Applies brightness, contrast, saturation and hue to each uint8 image, in its own order; rounds once at the end.

    `factors` are three factors and the shift of hue, and `order` is a permutation of 0 to 3, of each image.
    """
    result = images.to(torch.float32).div_(255)
    # The whole schedule is known on the host, so one copy suffices and nothing waits for the device. At its hue step an
    # image is blended with a factor of one, which leaves it unchanged.
    chosen = np.take_along_axis(factors, order, axis=1)
    table = np.stack([np.where(order == _HUE, 1.0, chosen), order == _CONTRAST, order == _SATURATION, chosen])
    away, from_mean, from_grey, turn = torch.from_numpy(table).to(result.device, result.dtype).unbind()
    for step in range(order.shape[1]):
        result = blend(result, away[:, step], from_mean=from_mean[:, step], from_grey=from_grey[:, step])
        turning = np.flatnonzero((order[:, step] == _HUE) & (chosen[:, step] != 0))
        if len(turning):
            rows = torch.from_numpy(turning).to(result.device)
            result[rows] = turn_hue(result[rows], turn[rows, step])
    return result.mul_(255).round_().to(torch.uint8)


def _each(values: Tensor) -> Tensor:
    return values.view(-1, 1, 1, 1)
