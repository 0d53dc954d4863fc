"""From evidence maps to one value each: WILDCAT pooling (Durand et al. 2017), the mean and the maximum."""

from typing import final

import torch
from torch import nn

from onepeak._core.check import check_number
from onepeak._core.tensors import Outputs, full_precision
from onepeak.errors import InputError
from onepeak.networks.tensors import Evidence


def wildcat(maps: Evidence, *, kmax: float = 0.1, kmin: float | None = None, alpha: float = 0.0) -> Outputs:
    r"""The mean of the highest positions of each map, plus a weighted mean of the lowest.

    .. math::
        o = \frac{1}{k^+} \sum_{i \in \mathrm{top}_{k^+}} m_i
            + \frac{\alpha}{k^-} \sum_{i \in \mathrm{low}_{k^-}} m_i, \qquad
        k^\pm = \max(1, \mathrm{round}(\mathrm{k}_\pm \, h \, w))

    Maps in half precision are averaged and returned in float32: rounded to half precision, neighbouring classes would
    tie.

    Args:
        maps: One map per output.
        kmax: Share of positions that count as highest, above 0 and at most 1.
        kmin: Share of positions that count as lowest; `kmax` by default. Unused if alpha is 0.
        alpha: Weight of the lowest positions, 0 in Belharbi et al. 2019.

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
        alpha: Weight of the lowest positions, not negative.

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
        """Returns one value per map."""
        return wildcat(maps, kmax=self.kmax, kmin=self.kmin, alpha=self.alpha)

    def extra_repr(self) -> str:
        """Returns the settings."""
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
        """Returns one value per map."""
        return full_precision(maps).mean(dim=(2, 3))


@final
class MaxPooling(nn.Module):
    """The maximum of each map. Positions that tie for it share the gradient.

    Example:
        >>> MaxPooling()(torch.tensor([[[[1.0, 2.0], [3.0, 6.0]]]]))
        tensor([[6.]])
    """

    def forward(self, maps: Evidence) -> Outputs:
        """Returns one value per map."""
        return full_precision(maps.amax(dim=(2, 3)))
