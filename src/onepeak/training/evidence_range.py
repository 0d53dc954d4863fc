"""How strong a model's evidence is in pictures that it was not trained on: one scale for all of its evidence maps."""

import math
from typing import TYPE_CHECKING

import torch

from onepeak._shapes import Labels
from onepeak.errors import InputError
from onepeak.methods.method import Method
from onepeak.networks.head import MapHead
from onepeak.networks.network import Network
from onepeak.training.feed import Feed, Indices

if TYPE_CHECKING:
    from lightning.fabric import Fabric

MOST_PICTURES = 64
"""Pictures that are looked at: enough for a scale, and few beside what training looks at."""
SHARE = 0.9
"""Of them, those whose brightest place does not go beyond the scale."""
_LEAST = 1.0
"""The length of a scale at least: where classes differ by less, they differ by little."""


@torch.inference_mode()
def evidence_range(
    network: Network, feed: Feed, indices: Indices, predicted: Labels, *, fabric: "Fabric", batch_size: int
) -> tuple[float, float] | None:
    """The evidence that is drawn as nothing, and that which is drawn brightest, on every map of a model.

    The lower end is what a class has that is like all others: 0, as maps are of a score less the mean over classes, or
    of methods without class scores the log-probability of chance. The upper end is what the evidence for the predicted
    class does not exceed, at its highest place, in nine of ten pictures.

    Args:
        network: In evaluation mode.
        feed: Where the pictures come from.
        indices: Pictures that were held out; some of many are looked at.
        predicted: The labels decided on, one a picture.
        fabric: Device and precision.
        batch_size: The most pictures a batch.

    Returns:
        None for a network without maps, and where there is no picture.
    """
    if not isinstance(network.head, MapHead) or not len(indices):
        return None
    chosen = torch.linspace(0, len(indices) - 1, min(len(indices), MOST_PICTURES)).round().long()
    highest = torch.empty(len(chosen))
    for places, inputs in feed.evaluation_inputs(indices[chosen.numpy()], batch_size=batch_size):
        labels = predicted[chosen[places]].to(inputs.device)
        with fabric.autocast():
            maps = network.class_evidence(inputs, labels)
        highest[places] = maps.amax(dim=(1, 2)).float().cpu()
    low = _even(network.method, network.head.classifier.weight.device)
    high = float(highest.nan_to_num(nan=low, neginf=low).quantile(SHARE))
    return low, max(float(f"{high:.4g}"), low + _LEAST)


def _even(method: Method, device: torch.device) -> float:
    """The evidence for a class that has no more than others."""
    try:
        method.class_scores(torch.zeros(1, method.num_outputs, device=device))
    except InputError:  # how a method says that it has none
        return float(f"{-math.log(method.num_classes):.4g}")
    return 0.0
