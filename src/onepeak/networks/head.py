"""From feature maps to a method's outputs, through evidence maps that can be displayed."""

from collections.abc import Sequence
from typing import Any, final

import torch
from torch import nn
from torch.nn import functional as F

from onepeak._core.check import check_integer, check_number
from onepeak._core.tensors import Evidence, Features, Labels, LogProbs, Maps, Outputs, full_precision
from onepeak.errors import InputError
from onepeak.posterior import project


def wildcat(maps: Evidence, *, kmax: float = 0.1, kmin: float | None = None, alpha: float = 0.0) -> Outputs:
    r"""The mean of the highest positions of each map, plus a weighted mean of the lowest: see `WildcatPooling`.

    .. math::
        o = \frac{1}{k^+} \sum_{i \in \mathrm{top}_{k^+}} m_i
            + \frac{\alpha}{k^-} \sum_{i \in \mathrm{low}_{k^-}} m_i, \qquad
        k^\pm = \max(1, \mathrm{round}(\mathrm{k}_\pm \, h \, w))

    Maps in half precision are averaged and returned in float32: rounded to half precision, neighbouring classes would
    tie.

    Example:
        >>> maps = torch.tensor([[[[1.0, 2.0], [3.0, 6.0]]]])
        >>> wildcat(maps, kmax=0.5)
        tensor([[4.5000]])
        >>> wildcat(maps, kmax=0.5, kmin=0.25, alpha=0.5)
        tensor([[5.]])

    Reference: Durand, Mordan, Thome, Cord, "WILDCAT: Weakly supervised learning of deep convnets for image
    classification, pointwise localization and segmentation", CVPR 2017, eq. 1-2.
    """
    positions = maps.flatten(start_dim=2)
    highest = _mean_of_extremes(positions, kmax, largest=True)
    if alpha == 0:
        return highest
    return highest + alpha * _mean_of_extremes(positions, kmax if kmin is None else kmin, largest=False)


def _mean_of_extremes(positions: torch.Tensor, share: float, *, largest: bool) -> Outputs:
    k = _count(share, positions.shape[-1])
    if isinstance(k, torch.Tensor):
        # Exported for images of any size: an exported axis of length k cannot also have length 1, so all positions are
        # ranked.
        ranked = full_precision(positions.sort(dim=-1, descending=largest).values)
        weights = (torch.arange(positions.shape[-1], device=positions.device) < k).to(ranked.dtype)
        return (ranked * weights).sum(dim=-1) / weights.sum()
    return full_precision(positions.topk(k, dim=-1, largest=largest, sorted=False).values).mean(dim=-1)


def _count(share: float, num_positions: int | torch.SymInt) -> int | torch.Tensor:
    """Returns the number of positions in a share; a tensor if their total is symbolic, as ONNX rounds only tensors."""
    if isinstance(num_positions, torch.SymInt):
        exact = share * torch.full((), num_positions, dtype=torch.float64)  # the precision of Python's floats
        return exact.round().clamp(min=1).long()
    return max(1, round(share * num_positions))


@final
class WildcatPooling(nn.Module):
    """`wildcat` as a module, with its settings checked once.

    Args:
        kmax: Share of positions that count as highest, above 0 and at most 1.
        kmin: Share of positions that count as lowest; `kmax` by default. An error if alpha is 0.
        alpha: Weight of the lowest positions, not negative; 0 in Belharbi et al. 2019.

    Example:
        >>> WildcatPooling(kmax=0.5)(torch.tensor([[[[1.0, 2.0], [3.0, 6.0]]]]))
        tensor([[4.5000]])
    """

    def __init__(self, *, kmax: float = 0.1, kmin: float | None = None, alpha: float = 0.0) -> None:
        super().__init__()
        self.kmax = check_number("kmax", kmax, above=0, maximum=1)
        self.alpha = check_number("alpha", alpha, minimum=0)
        self.kmin = None if kmin is None else check_number("kmin", kmin, above=0, maximum=1)
        if kmin is not None and alpha == 0:
            raise InputError(f"`kmin` does nothing when `alpha` is 0, got {kmin!r}: give an alpha or leave it out.")

    def forward(self, maps: Evidence) -> Outputs:
        return wildcat(maps, kmax=self.kmax, kmin=self.kmin, alpha=self.alpha)

    def extra_repr(self) -> str:
        lowest = "" if self.alpha == 0 else f", kmin={self.kmax if self.kmin is None else self.kmin}"
        return f"kmax={self.kmax}{lowest}, alpha={self.alpha}"


@final
class AveragePooling(nn.Module):
    """The mean of each map.

    Example:
        >>> AveragePooling()(torch.tensor([[[[1.0, 2.0], [3.0, 6.0]]]]))
        tensor([[3.]])
    """

    def forward(self, maps: Evidence) -> Outputs:
        return full_precision(maps).mean(dim=(2, 3))


@final
class MaxPooling(nn.Module):
    """The maximum of each map. Positions that tie for it share the gradient.

    Example:
        >>> MaxPooling()(torch.tensor([[[[1.0, 2.0], [3.0, 6.0]]]]))
        tensor([[6.]])
    """

    def forward(self, maps: Evidence) -> Outputs:
        return full_precision(maps.amax(dim=(2, 3)))


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
        pooled: torch.Tensor = self.pooling(self.evidence(feature_maps))
        return pooled


@final
class RowHead(nn.Module):
    """A linear layer from features to outputs: the head for backbones without maps."""

    def __init__(self, num_features: int, num_outputs: int) -> None:
        super().__init__()
        num_features = check_integer("num_features", num_features, minimum=1)
        self.classifier = nn.Linear(num_features, check_integer("num_outputs", num_outputs, minimum=1))

    def forward(self, features: Features) -> Outputs:
        return full_precision(self.classifier(features))


@final
class MeanHead(nn.Module):
    """The mean of the log-probabilities of several networks, normalised; with `one_peak`, projected to one peak."""

    def __init__(self, members: Sequence[nn.Module], *, one_peak: bool) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.one_peak = one_peak

    def forward(self, inputs: torch.Tensor) -> LogProbs:
        return self.mean([member.method.log_probs(member(inputs)) for member in self._networks])

    def mean(self, each: Sequence[torch.Tensor]) -> LogProbs:
        """Returns the mean of log-probabilities of the same samples."""
        mean = torch.stack(list(each)).clamp(min=_LEAST).mean(dim=0).log_softmax(dim=-1)
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
