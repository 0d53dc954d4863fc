"""Where the loop gets its batches from: pictures out of a store, or rows of a table."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from onepeak.data.augment import Augment, draw_changes, shuffled
from onepeak.data.batches import evaluation_batches, normalise, train_batch
from onepeak.data.crops import crop_table, gather
from onepeak.data.store import ImageStore

Indices = npt.NDArray[np.int64]


class Feed(ABC):
    """Inputs of a network by the index of the sample, on the network's device."""

    @abstractmethod
    def train_inputs(self, indices: Indices, *, seed: int, epoch: int) -> Tensor:
        """The inputs of some samples as an epoch of training sees them."""

    @abstractmethod
    def train_plan(self, indices: Indices, *, seed: int, epoch: int) -> Tensor | None:
        """All that `planned_inputs` must know of some samples, one column each; None where it takes more than that."""

    @abstractmethod
    def planned_inputs(self, plan: Tensor) -> Tensor:
        """The inputs of `train_inputs` from columns of a plan, without a look at the host: a graph can record it."""

    @abstractmethod
    def evaluation_inputs(self, indices: Indices, *, batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The inputs of all these samples, unchanged: the places in `indices` of a batch, and the batch."""


@final
class PictureFeed(Feed):
    """Pictures of a store: random crops to train on, whole pictures to evaluate on.

    Args:
        store: The pictures; it is copied to the device where it fits there.
        augment: The random changes of training pictures.
        device: Where the batches go.
    """

    def __init__(self, store: ImageStore, augment: Augment, device: torch.device) -> None:
        self.store = store.to(device) if device.type != "cpu" and store.fits(device) else store
        self.augment = augment
        self.device = device

    def train_inputs(self, indices: Indices, *, seed: int, epoch: int) -> Tensor:
        """Augmented crops, normalised."""
        batch = train_batch(self.store, indices, self.augment, seed=seed, epoch=epoch, device=self.device)
        return normalise(batch)

    def train_plan(self, indices: Indices, *, seed: int, epoch: int) -> Tensor | None:
        """The crops of a store on the device, unless a picture must be enlarged or colours change."""
        store, augment = self.store, self.augment
        if store.device.type == "cpu" or augment.crop is None or augment.colour_jitter is not None:
            return None
        changes = draw_changes(augment, store.kept[indices], store.sizes[indices], seed=seed, epoch=epoch)
        enlarged = (changes.sizes != store.sizes[indices]).any()
        return None if enlarged else crop_table(store, indices, changes)

    def planned_inputs(self, plan: Tensor) -> Tensor:
        """Augmented crops, normalised."""
        side = self.augment.crop
        if side is None:
            raise TypeError("whole pictures have no plan")
        return normalise(gather(self.store, plan, (side, side)).permute(0, 3, 1, 2))

    def evaluation_inputs(self, indices: Indices, *, batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Whole pictures, normalised; pictures of one size share a batch."""
        for places, batch in evaluation_batches(self.store, indices, batch_size=batch_size, device=self.device):
            yield places, normalise(batch)


@final
class RowFeed(Feed):
    """Rows of numbers that are ready for a network.

    Args:
        rows: Samples x features, finite.
        device: Where the batches go; the table is kept there.
    """

    def __init__(self, rows: npt.NDArray[np.float32], device: torch.device) -> None:
        self.rows = torch.from_numpy(rows).to(device)

    def train_inputs(self, indices: Indices, *, seed: int, epoch: int) -> Tensor:  # noqa: ARG002 - rows do not change
        """The rows."""
        return self.rows[on_device(indices, self.rows.device)]

    def train_plan(self, indices: Indices, *, seed: int, epoch: int) -> Tensor:  # noqa: ARG002 - rows do not change
        """Which rows."""
        return on_device(indices, self.rows.device).unsqueeze(0)

    def planned_inputs(self, plan: Tensor) -> Tensor:
        """The rows."""
        return self.rows[plan[0]]

    def evaluation_inputs(self, indices: Indices, *, batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The rows, in their order."""
        for places in torch.arange(len(indices)).split(batch_size):
            yield places, self.train_inputs(indices[places.numpy()], seed=0, epoch=0)


def on_device(indices: Indices, device: torch.device) -> Tensor:
    """Positions as a tensor; copied, for a split's are read-only."""
    return torch.tensor(indices, device=device)


def epoch_order(indices: Indices, labels: Indices, *, seed: int, epoch: int, balanced: bool) -> Indices:
    """The samples of an epoch in the order in which they come: a function of seed and epoch alone.

    Args:
        indices: The samples to train on.
        labels: The labels of all samples.
        seed: The seed of the run.
        epoch: The epoch.
        balanced: Whether to draw as many samples with replacement, every class equally often.
    """
    if not balanced:
        return indices[shuffled(indices, seed=seed, epoch=epoch)]
    _, classes, counts = np.unique(labels[indices], return_inverse=True, return_counts=True)
    chances = 1 / counts[classes]
    drawn = np.random.Generator(np.random.Philox(key=[seed, epoch])).choice(
        len(indices), size=len(indices), p=chances / chances.sum()
    )
    return indices[drawn]
