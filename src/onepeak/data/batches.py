"""Batches from a store: random crops for training, whole images for evaluation."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from onepeak._values import check_integer
from onepeak.data.augment import Augment, draw_changes
from onepeak.data.colour import jitter
from onepeak.data.crops import cut
from onepeak.data.store.images import ImageStore
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
    """Returns a batch of augmented images from a store.

    The augmentation of an image depends only on the seed, the epoch and the image: not on the rest of the batch, the
    order, the number of workers or the device.

    Args:
        store: The image store.
        indices: Positions in the store.
        augment: The augmentation settings.
        seed: The seed of the run.
        epoch: The epoch.
        device: The device of the batch, where the colours are changed too; by default the store's device.

    Returns:
        uint8, batch x 3 x crop x crop, channels last in memory; see `normalise`.
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

    Sizes come in ascending order, images of the same size in the order of `indices`.

    Args:
        store: The image store.
        indices: Positions in the store to evaluate.
        batch_size: The largest number of images per batch.
        device: The device of the batches; by default the store's device.

    Yields:
        The positions in `indices` that make up the batch (int64, on the CPU), and the images as uint8, batch x 3 x
        height x width. `results[places] = ...` restores the order of `indices`.
    """
    check_integer("batch_size", batch_size, minimum=1)
    positions = _checked(store, indices)
    sizes = store.sizes[positions]
    order = np.lexsort((sizes[:, 1], sizes[:, 0]))  # stable, so equal sizes keep their order
    borders = np.flatnonzero((np.diff(sizes[order], axis=0) != 0).any(axis=1)) + 1
    whole = Augment(horizontal_flip=False)
    for group in np.split(order, borders) if len(order) else []:
        for start in range(0, len(group), batch_size):
            places = group[start : start + batch_size]
            changes = draw_changes(whole, store.kept[positions[places]], sizes[places], seed=0, epoch=0)
            yield torch.from_numpy(places), _moved(cut(store, positions[places], changes), device)


def normalise(batch: Tensor) -> Tensor:
    """Maps 0 to 255 linearly to -1 to 1, as the paper does for all data sets.

    Args:
        batch: uint8, batch x 3 x height x width.

    Returns:
        float32 of the same shape.

    Example:
        >>> normalise(torch.tensor([0, 255], dtype=torch.uint8).repeat(1, 3, 1, 1)).flatten()[:2]
        tensor([-1.,  1.])
    """
    if batch.dtype != torch.uint8 or batch.ndim != 4 or batch.shape[1] != 3:
        raise InputError(
            "`batch` must be uint8 of shape (batch, 3, height, width), "
            f"got {batch.dtype} of shape {tuple(batch.shape)}."
        )
    return batch.float().mul_(1 / 127.5).sub_(1)


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
