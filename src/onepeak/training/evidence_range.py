"""The strength of a model's evidence in held-out images: one scale for all of its evidence maps."""

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
"""Number of images examined: enough for a scale, and few compared with training."""
SHARE = 0.9
"""Share of those images whose brightest place lies within the scale."""
_LEAST = 1.0
"""Shortest length of the scale: smaller differences between classes are negligible."""


@torch.inference_mode()
def evidence_range(
    network: Network, feed: Feed, indices: Indices, predicted: Labels, *, fabric: "Fabric", batch_size: int
) -> tuple[float, float] | None:
    """Returns the evidence drawn as nothing and the evidence drawn brightest, on every map of a model.

    The lower end is the evidence for a class that is no more likely than the others. It is 0, because maps show a score
    minus the mean over classes; for methods without class scores it is the log-probability of chance. The upper end
    bounds the highest evidence for the predicted class in nine of ten images.

    Args:
        network: The network, in evaluation mode.
        feed: Source of the images.
        indices: Held-out images; if there are many, a selection is examined.
        predicted: Predicted labels, one per image.
        fabric: Device and precision.
        batch_size: Most images per batch.

    Returns:
        The lower and the upper end; None for a network without maps, or without images.
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
    """Returns the evidence for a class that is no more likely than the others."""
    try:
        method.class_scores(torch.zeros(1, method.num_outputs, device=device))
    except InputError:  # the method has no class scores
        return float(f"{-math.log(method.num_classes):.4g}")
    return 0.0
