"""From feature maps to a method's outputs, through evidence maps that can be displayed."""

from collections.abc import Sequence
from typing import Any, final

import torch
from torch import nn
from torch.nn import functional as F

from onepeak._core.check import check_integer
from onepeak._core.tensors import Labels, LogProbs, Outputs, full_precision
from onepeak.networks.tensors import Evidence, Features, Maps
from onepeak.posterior import project

_LEAST = -1e4
"""Lowest log-probability in a mean: one member alone does not rule a class out."""


@final
class MapHead(nn.Module):
    r"""A 1x1 convolution to several maps per output, their mean, and pooling.

    The mean of an output's maps is itself a 1x1 convolution, with the mean of their weights. It is computed that way:
    values and gradients are the same, and memory is lower by a factor of `maps_per_output`.

    Args:
        num_channels: Channels of the feature maps.
        num_outputs: Number of outputs that the method reads.
        pooling: A module from maps (batch, outputs, height, width) to (batch, outputs).
        maps_per_output: M of WILDCAT, 5 in Belharbi et al. 2019.

    Example:
        >>> from onepeak.networks import WildcatPooling
        >>> head = MapHead(16, 4, pooling=WildcatPooling(), maps_per_output=5)
        >>> head(torch.randn(2, 16, 8, 8)).shape, head.evidence(torch.randn(2, 16, 8, 8)).shape
        (torch.Size([2, 4]), torch.Size([2, 4, 8, 8]))
    """

    def __init__(self, num_channels: int, num_outputs: int, *, pooling: nn.Module, maps_per_output: int = 1) -> None:
        super().__init__()
        self.num_channels = check_integer("num_channels", num_channels, minimum=1)
        self.num_outputs = check_integer("num_outputs", num_outputs, minimum=1)
        self.maps_per_output = check_integer("maps_per_output", maps_per_output, minimum=1)
        self.classifier = nn.Conv2d(num_channels, num_outputs * maps_per_output, kernel_size=1)
        self.pooling = pooling

    def evidence(self, feature_maps: Maps) -> Evidence:
        """Returns one map per output, before pooling."""
        assert self.classifier.bias is not None
        shape = (self.num_outputs, self.maps_per_output)
        weight = self.classifier.weight.unflatten(0, shape).mean(dim=1)
        bias = self.classifier.bias.unflatten(0, shape).mean(dim=1)
        return F.conv2d(feature_maps, weight, bias)

    def forward(self, feature_maps: Maps) -> Outputs:
        """Returns the pooled evidence."""
        pooled: torch.Tensor = self.pooling(self.evidence(feature_maps))
        return pooled


@final
class RowHead(nn.Module):
    """A linear layer from features to outputs: the head for backbones without maps.

    Args:
        num_features: Number of features per sample from the backbone.
        num_outputs: Number of outputs that the method reads.

    Example:
        >>> RowHead(64, 4)(torch.randn(2, 64)).shape
        torch.Size([2, 4])
    """

    def __init__(self, num_features: int, num_outputs: int) -> None:
        super().__init__()
        num_features = check_integer("num_features", num_features, minimum=1)
        self.classifier = nn.Linear(num_features, check_integer("num_outputs", num_outputs, minimum=1))

    def forward(self, features: Features) -> Outputs:
        """Returns the outputs, in float32 or higher precision."""
        return full_precision(self.classifier(features))


@final
class MeanHead(nn.Module):
    """The mean of the log-probabilities of several networks, normalised.

    Args:
        members: Networks that read what this head reads.
        one_peak: Whether the mean is projected to the nearest posterior with one peak.
    """

    def __init__(self, members: Sequence[nn.Module], *, one_peak: bool) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.one_peak = one_peak

    def forward(self, inputs: torch.Tensor) -> LogProbs:
        """Returns log-probabilities."""
        each = [member.method.log_probs(member(inputs)) for member in self._networks]
        mean = torch.stack(each).clamp(min=_LEAST).mean(dim=0).log_softmax(dim=-1)
        return project(mean) if self.one_peak else mean

    @property
    def _networks(self) -> list[Any]:
        return list(self.members)

    @property
    def has_maps(self) -> bool:
        """Whether every member has evidence maps."""
        return all(member.has_maps for member in self._networks)

    def class_evidence(self, inputs: torch.Tensor, labels: Labels) -> torch.Tensor:
        """Returns the mean of the members' maps."""
        return torch.stack([each.evidence_in(each.backbone(inputs), labels) for each in self._networks]).mean(dim=0)
