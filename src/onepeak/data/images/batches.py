"""Batches from a store: random crops for training, whole images for evaluation."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from onepeak._core.values import check_integer
from onepeak.data.images.augment import Augment, Changes, draw_changes
from onepeak.data.images.store.images import ImageStore
from onepeak.errors import InputError

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
