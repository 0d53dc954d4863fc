"""Batches for the training loop: images from a store, or rows of numbers."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from onepeak.data.images.augment import (
    Augment,
    crop_table,
    draw_changes,
    evaluation_batches,
    gather,
    shuffled,
    train_batch,
)
from onepeak.data.images.store.images import ImageStore
from onepeak.networks.inputs import ImageInput

Indices = npt.NDArray[np.int64]


class Feed(ABC):
    """Network inputs by sample index, on the network's device."""

    @abstractmethod
    def train_inputs(self, indices: Indices, *, seed: int, epoch: int) -> Tensor:
        """Returns the inputs of some samples as a training epoch sees them."""

    @abstractmethod
    def train_plan(self, indices: Indices, *, seed: int, epoch: int) -> Tensor | None:
        """Returns all that `planned_inputs` needs, one column per sample; None if the inputs cannot be planned."""

    @abstractmethod
    def planned_inputs(self, plan: Tensor) -> Tensor:
        """Returns the inputs of `train_inputs` from columns of a plan, without host access: a graph can record it."""

    def in_batches(self, order: Indices, batch_size: int, *, seed: int, epoch: int) -> Indices:  # noqa: ARG002
        """Returns the samples of an epoch in the order of their batches, which some inputs change."""
        return order

    @abstractmethod
    def evaluation_inputs(self, indices: Indices, *, batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yields the inputs of all these samples without augmentation: positions in `indices`, and the batch."""


@final
class ImageFeed(Feed):
    """Images of a store: random crops for training, whole images for evaluation, or their mirror images."""

    def __init__(
        self,
        store: ImageStore,
        augment: Augment,
        device: torch.device,
        pixels: ImageInput | None = None,
        *,
        mirrored: bool = False,
    ) -> None:
        self.mirrored = mirrored
        self.store = store.to(device) if device.type != "cpu" and store.fits(device) else store
        self.augment = augment
        self.device = device
        self.input = (pixels or ImageInput()).to(device)

    def train_inputs(self, indices: Indices, *, seed: int, epoch: int) -> Tensor:
        batch = train_batch(self.store, indices, self.augment, seed=seed, epoch=epoch, device=self.device)
        inputs: Tensor = self.input(batch)
        return inputs

    def train_plan(self, indices: Indices, *, seed: int, epoch: int) -> Tensor | None:
        store, augment = self.store, self.augment  # a plan has crops of a store on a GPU, of unchanged size and colour
        if store.device.type == "cpu" or augment.crop is None or augment.colour_jitter is not None:
            return None
        changes = draw_changes(augment, store.kept[indices], store.sizes[indices], seed=seed, epoch=epoch)
        enlarged = (changes.sizes != store.sizes[indices]).any()
        return None if enlarged else crop_table(store, indices, changes)

    def planned_inputs(self, plan: Tensor) -> Tensor:
        side = self.augment.crop
        if side is None:
            raise TypeError("whole images have no plan")
        inputs: Tensor = self.input(gather(self.store, plan, (side, side)).permute(0, 3, 1, 2))
        return inputs

    def evaluation_inputs(self, indices: Indices, *, batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
        for places, batch in evaluation_batches(self.store, indices, batch_size=batch_size, device=self.device):
            yield places, self.input(batch.flip(-1) if self.mirrored else batch)


@final
class RowFeed(Feed):
    """Rows of numbers: encoded rows of a table, or what a frozen backbone gives for several views of each image.

    In training a sample is seen by a random one of its views, which does not depend on its batch; in evaluation by the
    first.

    Args:
        rows: Samples x features, or samples x views x features.
        device: Where the rows are kept.
        as_maps: Whether rows become maps of one position, for a head that reads maps.
    """

    def __init__(self, rows: Tensor, device: torch.device, *, as_maps: bool = False) -> None:
        self.views = rows.shape[1] if rows.ndim == 3 else 1
        self.rows = rows.to(device).flatten(0, -2)
        self.as_maps = as_maps

    def train_inputs(self, indices: Indices, *, seed: int, epoch: int) -> Tensor:
        return self.planned_inputs(self.train_plan(indices, seed=seed, epoch=epoch))

    def train_plan(self, indices: Indices, *, seed: int, epoch: int) -> Tensor:
        chosen = indices * self.views
        if self.views > 1:
            draw = np.random.Generator(np.random.Philox(key=[seed, epoch]))
            chosen += draw.integers(self.views, size=len(self.rows) // self.views)[indices]
        return on_device(chosen, self.rows.device).unsqueeze(0)

    def planned_inputs(self, plan: Tensor) -> Tensor:
        rows = self.rows[plan[0]]
        return rows[:, :, None, None] if self.as_maps else rows

    def evaluation_inputs(self, indices: Indices, *, batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
        for places in torch.arange(len(indices)).split(batch_size):
            yield places, self.planned_inputs(on_device(indices[places.numpy()] * self.views, self.rows.device)[None])


def on_device(indices: Indices, device: torch.device) -> Tensor:
    """Returns indices as a tensor; copied, because the indices of a split are read-only."""
    return torch.tensor(indices, device=device)


def batch_slices(num_samples: int, batch_size: int, *, num_processes: int = 1) -> list[slice]:
    """Returns where the batches of an epoch begin and end.

    Batch norm needs two samples per process: a last batch that is too short is left out, a full or only one never is.

    Example:
        >>> batch_slices(9, 4), batch_slices(1, 4)
        ([slice(0, 4, None), slice(4, 8, None)], [slice(0, 1, None)])
    """
    fewest = min(2 * num_processes, batch_size)
    starts = (start for start in range(0, num_samples, batch_size) if start == 0 or num_samples - start >= fewest)
    return [slice(start, min(start + batch_size, num_samples)) for start in starts]


def epoch_order(indices: Indices, labels: Indices, *, seed: int, epoch: int, balanced: bool) -> Indices:
    """Returns the samples of an epoch in order, which depends only on the seed and the epoch.

    Balanced, it draws as many samples with replacement, with equal chances for every class.
    """
    if not balanced:
        return indices[shuffled(indices, seed=seed, epoch=epoch)]
    _, classes, counts = np.unique(labels[indices], return_inverse=True, return_counts=True)
    chances = 1 / counts[classes]
    drawn = np.random.Generator(np.random.Philox(key=[seed, epoch])).choice(
        len(indices), size=len(indices), p=chances / chances.sum()
    )
    return indices[drawn]
