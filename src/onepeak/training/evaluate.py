"""Runs a network over whole samples and measures what it says."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from onepeak._check import readable
from onepeak._reduce import Reduction
from onepeak.errors import NotFiniteError
from onepeak.methods.method import Method
from onepeak.metrics.catalog import collection
from onepeak.networks.network import Network
from onepeak.training.feed import Feed, Indices, on_device

if TYPE_CHECKING:
    from lightning.fabric import Fabric
    from torchmetrics import MetricCollection


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictions:
    """What a network says of some samples, in the order in which they were asked for; on the CPU."""

    indices: Indices
    labels: Tensor
    predicted: Tensor
    """The label the method decided on."""
    log_probs: Tensor


@torch.inference_mode()
def predict(
    network: Network, feed: Feed, indices: Indices, labels: Tensor, *, fabric: "Fabric", batch_size: int
) -> Predictions:
    """The posteriors and decisions for some samples.

    Args:
        network: The network; it is put into evaluation mode.
        feed: Where the inputs come from.
        indices: Which samples.
        labels: The labels of all samples, on the network's device.
        fabric: Device and precision.
        batch_size: The most samples a batch.
    """
    network.eval()
    log_probs = torch.empty(len(indices), network.method.num_classes)
    predicted = torch.empty(len(indices), dtype=torch.int64)
    for places, inputs in feed.evaluation_inputs(indices, batch_size=batch_size):
        with fabric.autocast():
            outputs = network(inputs)
        log_probs[places] = network.method.log_probs(outputs).float().cpu()
        predicted[places] = network.method.predict(outputs).cpu()
    chosen = labels[on_device(indices, labels.device)].cpu()
    return Predictions(indices=indices, labels=chosen, predicted=predicted, log_probs=log_probs)


def measure(predictions: Predictions) -> dict[str, float]:
    """Every metric of the catalog."""
    metrics = collection(predictions.log_probs.shape[-1])
    metrics.update(predictions.log_probs, predictions.labels, predictions.predicted)
    return {name: float(value) for name, value in metrics.compute().items()}


@torch.inference_mode()
def validate(
    network: Network,
    feed: Feed,
    indices: Indices,
    labels: Tensor,
    metrics: "MetricCollection",
    *,
    fabric: "Fabric",
    batch_size: int,
) -> dict[str, float]:
    """Every metric and the mean loss over samples that the processes share among them, without keeping posteriors.

    Of a network that has diverged only the loss is told, which is then not finite.
    """
    network.eval()
    metrics.reset()
    loss = torch.zeros(2, dtype=torch.float64, device="cpu" if labels.device.type == "mps" else labels.device)
    mine = indices[fabric.global_rank :: fabric.world_size]
    for places, inputs in feed.evaluation_inputs(mine, batch_size=batch_size):
        truth = labels[on_device(mine[places.numpy()], labels.device)]
        with fabric.autocast():
            outputs = network(inputs)
        batch_loss = loss_or_nan(network.method, outputs, truth, reduction="sum")
        loss[0] += batch_loss
        loss[1] += len(truth)
        if not readable(batch_loss) or batch_loss.isfinite():  # metrics refuse NaN where they can see it
            metrics.update(network.method.log_probs(outputs), truth, network.method.predict(outputs))
    total, count = torch.as_tensor(fabric.all_reduce(loss, reduce_op="sum")).tolist()
    if not math.isfinite(total):
        return {"loss": total}
    return {"loss": total / max(1, count), **{name: float(value) for name, value in metrics.compute().items()}}


def loss_or_nan(method: Method, outputs: Tensor, labels: Tensor, *, reduction: Reduction) -> Tensor:
    """The loss; NaN for outputs that are not finite, so that all processes go on alike to where it is told."""
    try:
        return method.loss(outputs, labels, reduction=reduction)
    except NotFiniteError:
        return outputs.sum() * math.nan
