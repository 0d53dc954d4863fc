"""The steps and the validation of a training loop, recorded as CUDA graphs from the second epoch on."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, final

import numpy as np
import torch
from torch import Tensor

from onepeak.networks.network import Network
from onepeak.training.feed import Feed, Indices, on_device
from onepeak.training.graph import Graph, recorded_if_it_fits

if TYPE_CHECKING:
    from lightning.fabric import Fabric

LARGEST_SHARE = 0.1
"""Validation inputs stay on the device up to this share of its free memory; more are read again every epoch."""


@final
class RecordedSteps:
    """Recorded steps. Their samples are columns of a table on the device, the only input that differs between steps.

    Args:
        feed: Source of the inputs.
        labels: The labels of all samples, on the device.
    """

    def __init__(self, feed: Feed, labels: Tensor) -> None:
        self.feed, self.labels = feed, labels
        self.columns = labels  # of one step; after recording, the graph's input buffer
        self.graph: Graph[Tensor] | None = None
        self.is_too_large = False
        """Whether the device has too little memory for a recording."""

    def plan(
        self, batches: list[Indices], descend: Callable[[Tensor, Tensor], Tensor], *, seed: int, epoch: int
    ) -> Tensor | None:
        """Returns the inputs and labels of an epoch, one column per sample; None if planning or recording fails.

        Args:
            batches: The samples of every step.
            descend: Takes inputs and labels, takes a step, and returns the loss. It is recorded at the first call and
                not kept: a reference cycle would leave the loop and all its graphs to the garbage collector.
            seed: The seed of the run.
            epoch: The epoch.
        """
        order = np.concatenate(batches)
        inputs = None if self.is_too_large else self.feed.train_plan(order, seed=seed, epoch=epoch)
        if inputs is None:
            return None
        plan = torch.cat([inputs, self.labels[on_device(order, self.labels.device)].unsqueeze(0)])
        if self.graph is None:
            self.columns = plan[:, : len(batches[0])].clone()
            self.graph = recorded_if_it_fits(
                lambda: descend(self.feed.planned_inputs(self.columns[:-1]), self.columns[-1])
            )
            self.is_too_large = self.graph is None
        return None if self.is_too_large else plan

    def fits(self, batch: Indices) -> bool:
        """Returns whether the recorded step has this batch size."""
        return len(batch) == self.columns.shape[-1]

    def step(self, columns: Tensor) -> Tensor:
        """Takes a step on these columns of the plan; the next step overwrites the returned loss."""
        if self.graph is None:
            raise TypeError("a step without a plan")
        self.columns.copy_(columns)
        return self.graph()


@final
class RecordedAnswers:
    """The recorded outputs of a network for the same samples in every epoch.

    Args:
        network: The network; its weights may change, in place.
        feed: Source of the inputs.
        indices: The samples.
        labels: The labels of all samples, on the device.
        fabric: Device and precision.
        batch_size: Most samples per batch.
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
        self.graph = recorded_if_it_fits(self._ask)
        self.fits = self.graph is not None

    def __call__(self) -> list[tuple[Tensor, Tensor]]:
        """Returns the outputs and labels of every batch."""
        if self.graph is None:
            raise TypeError("answers that were not recorded")
        self.network.eval()  # a replay repeats only device work, and a loss may check the mode
        return list(zip(self.graph(), self.labels, strict=True))

    @torch.no_grad()
    def _ask(self) -> list[Tensor]:
        self.network.eval()
        with self.fabric.autocast():
            return [self.network(inputs) for inputs in self.inputs]
