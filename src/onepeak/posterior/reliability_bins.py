"""The points of a reliability diagram: stated probabilities against observed frequencies."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from onepeak._check import check_integer, check_labels
from onepeak._shapes import Labels, LogProbs
from onepeak.errors import InputError
from onepeak.posterior._check import check_log_probs


@dataclass(frozen=True, kw_only=True)
class ReliabilityBin:
    """The statements whose probability lies between two bounds."""

    low: float
    high: float
    count: int
    stated: float
    """Their mean probability."""
    happened: float
    """The share of them that came true."""


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """Bins of probability, lowest first, without empty bins. The sum of two pools their samples."""

    num_bins: int
    """Number of bins between 0 and 1, empty ones included."""
    confidence: tuple[ReliabilityBin, ...]
    """Bins of the statement "it is the most probable label", one per sample."""
    cumulative: tuple[ReliabilityBin, ...]
    """Bins of the statements "it is label k or below", one per sample and per k except the last."""

    @property
    def confidence_error(self) -> float:
        """The expected calibration error: the mean difference of stated and observed frequency of the likeliest label.

        From 0 to 1, lower is better; NaN without samples.
        """
        total = sum(each.count for each in self.confidence)
        gaps = sum(each.count * abs(each.stated - each.happened) for each in self.confidence)
        return gaps / total if total else math.nan

    def __add__(self, other: "Reliability") -> "Reliability":
        """The reliability of the pooled samples."""
        if self.num_bins != other.num_bins:
            raise InputError(
                f"`num_bins` must be the same to add reliabilities, got {self.num_bins} and {other.num_bins}."
            )
        return Reliability(
            num_bins=self.num_bins,
            confidence=_together(self.confidence, other.confidence),
            cumulative=_together(self.cumulative, other.cumulative),
        )


def reliability(log_probs: LogProbs, labels: Labels, *, num_bins: int = 15) -> Reliability:
    r"""Compares stated probabilities with observed frequencies, in bins of equal width.

    It does so for the probability of the mode, as for any classifier, and for :math:`P(y \le k)`, which suits ordered
    labels: "at most 40 years old", "no worse than grade 2".

    Args:
        log_probs: Log-probabilities of the classes.
        labels: True labels.
        num_bins: The number of bins between 0 and 1.

    Example:
        >>> found = reliability(torch.tensor([[0.75, 0.25], [0.25, 0.75]]).log(), torch.tensor([0, 0]), num_bins=2)
        >>> [(each.low, each.high, each.count, round(each.stated, 3), each.happened) for each in found.confidence]
        [(0.5, 1.0, 2, 0.75, 0.5)]
        >>> [(round(each.stated, 3), each.happened) for each in found.cumulative], round(found.confidence_error, 3)
        ([(0.25, 1.0), (0.75, 1.0)], 0.25)
    """
    check_log_probs(log_probs)
    check_labels(labels, log_probs.shape[-1], log_probs.shape[:-1])
    check_integer("num_bins", num_bins, minimum=1)
    probs = log_probs.detach().cpu().double().exp()
    labels = labels.cpu()
    confidence, mode = probs.max(dim=-1)
    below = probs.cumsum(dim=-1)[..., :-1]
    thresholds = torch.arange(below.shape[-1])
    return Reliability(
        num_bins=num_bins,
        confidence=_bins(confidence, mode == labels, num_bins),
        cumulative=_bins(below, labels.unsqueeze(-1) <= thresholds, num_bins),
    )


def bin_sums(stated: Tensor, happened: Tensor, weights: Tensor, *, num_bins: int) -> Tensor:
    """Weighted sums per bin (bins x 3): of the statements, of their probabilities, and of those that came true.

    Args:
        stated: Probabilities.
        happened: Whether each came true.
        weights: Weight of each statement.
        num_bins: The number of bins between 0 and 1.
    """
    # NaN would give an undefined index, so it goes to bin 0; the sums stay NaN
    bins = (stated * num_bins).nan_to_num(0).long().clamp(max=num_bins - 1)
    rows = torch.stack([torch.ones_like(stated), stated, happened.to(stated)], dim=-1)
    rows = torch.where(weights.unsqueeze(-1) > 0, rows * weights.unsqueeze(-1), 0.0)
    table = torch.zeros(num_bins, 3, dtype=stated.dtype, device=stated.device)
    return table.index_add(0, bins.flatten(), rows.reshape(-1, 3))


def _bins(stated: Tensor, happened: Tensor, num_bins: int) -> tuple[ReliabilityBin, ...]:
    stated = stated.clamp(max=1)
    sums = bin_sums(stated, happened, torch.ones_like(stated), num_bins=num_bins).tolist()
    return tuple(
        ReliabilityBin(
            low=place / num_bins,
            high=(place + 1) / num_bins,
            count=round(count),
            stated=total / count,
            happened=true / count,
        )
        for place, (count, total, true) in enumerate(sums)
        if count
    )


def _together(one: tuple[ReliabilityBin, ...], other: tuple[ReliabilityBin, ...]) -> tuple[ReliabilityBin, ...]:
    """All bins, with those of the same bounds merged."""
    found = {each.low: each for each in one}
    for each in other:
        found[each.low] = _merged(found[each.low], each) if each.low in found else each
    return tuple(found[low] for low in sorted(found))


def _merged(one: ReliabilityBin, other: ReliabilityBin) -> ReliabilityBin:
    count = one.count + other.count
    return replace(
        one,
        count=count,
        stated=(one.count * one.stated + other.count * other.stated) / count,
        happened=(one.count * one.happened + other.count * other.happened) / count,
    )
