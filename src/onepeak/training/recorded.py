"""The steps and the validation of a training loop, recorded as CUDA graphs from its second epoch on."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, final

import numpy as np
import torch
from torch import Tensor

from onepeak.networks.network import Network
from onepeak.training.feed import Feed, Indices, on_device
from onepeak.training.graph import Graph

if TYPE_CHECKING:
    from lightning.fabric import Fabric

LARGEST_SHARE = 0.1
"""Inputs to validate on are kept on the device up to this share of its free memory; more are read anew every epoch."""


@final
class RecordedSteps:
    """Steps whose samples are columns of a table on the device: the only thing that differs from step to step.

    Args:
        feed: Where inputs come from.
        labels: The labels of all samples, on the device.
        descend: Takes inputs and labels, makes a step, and gives the loss.
    """

    def __init__(self, feed: Feed, labels: Tensor, descend: Callable[[Tensor, Tensor], Tensor]) -> None:
        self.feed, self.labels, self.descend = feed, labels, descend
        self.columns = labels  # of one step; a buffer of the graph's from the first step on
        self.graph: Graph[Tensor] | None = None

    def plan(self, batches: list[Indices], *, seed: int, epoch: int) -> Tensor | None:
        """The inputs and labels of an epoch, one column a sample; None where the feed cannot plan them."""
        order = np.concatenate(batches)
        inputs = self.feed.train_plan(order, seed=seed, epoch=epoch)
        if inputs is None:
            return None
        return torch.cat([inputs, self.labels[on_device(order, self.labels.device)].unsqueeze(0)])

    def step(self, columns: Tensor) -> Tensor:
        """A step on these columns of the plan; the loss is overwritten by the next. All must be equally many."""
        if self.graph is None:
            self.columns = columns.clone()
            self.graph = Graph(lambda: self.descend(self.feed.planned_inputs(self.columns[:-1]), self.columns[-1]))
        self.columns.copy_(columns)
        return self.graph()


@final
class RecordedAnswers:
    """What a network says of the same samples again and again.

    Args:
        network: The network; its weights may change, in place.
        feed: Where inputs come from.
        indices: The samples.
        labels: The labels of all samples, on the device.
        fabric: Device and precision.
        batch_size: The most samples a batch.
    """

    def __init__(
        self, network: Network, feed: Feed, indices: Indices, labels: Tensor, *, fabric: "Fabric", batch_size: int
    ) -> None:
        self.network, self.fabric = network, fabric
        self.inputs: list[Tensor] = []
        self.labels: list[Tensor] = []
        self.fits = True
        self.graph: Graph[list[Tensor]] | None = None
        on_gpu = labels.device.type == "cuda"
        room = LARGEST_SHARE * torch.cuda.mem_get_info(labels.device)[0] if on_gpu else math.inf
        for places, inputs in feed.evaluation_inputs(indices, batch_size=batch_size):
            room -= inputs.nbytes
            if room < 0:
                self.fits, self.inputs = False, []
                return
            self.inputs.append(inputs)
            self.labels.append(labels[on_device(indices[places.numpy()], labels.device)])

    def __call__(self) -> list[tuple[Tensor, Tensor]]:
        """The outputs of every batch, and its labels."""
        self.network.eval()
        if self.graph is None:
            self.graph = Graph(self._ask)
        return list(zip(self.graph(), self.labels, strict=True))

    @torch.no_grad()
    def _ask(self) -> list[Tensor]:
        with self.fabric.autocast():
            return [self.network(inputs) for inputs in self.inputs]
