"""Temperature scaling: one parameter that calibrates posteriors and never changes the order of the labels."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from onepeak._core.check import (
    check_class_scores,
    check_integer,
    check_labels,
    check_log_probs,
    check_number,
    check_weights,
    in_plain_eager,
)
from onepeak._core.tensors import Labels, LogProbs, PerSample, full_precision
from onepeak.errors import InputError

COLDEST, HOTTEST = 0.05, 1000.0
"""The search range of the temperature."""
_HALVINGS = 60
"""Bisections of the logarithm of that range: enough to exhaust float64."""


def fit_temperature(log_probs: LogProbs, labels: Labels, *, sample_weight: PerSample | None = None) -> float:
    r"""The temperature that maximises the likelihood of the labels.

    .. math:: \hat T = \arg\min_T \; - \sum_i w_i \log \mathrm{softmax}(\log p_i / T)_{y_i}

    The sum is convex in :math:`1 / T`, so its slope has one zero, which bisection finds between `COLDEST` and
    `HOTTEST`. A temperature above 1 means that the posteriors are overconfident. If the most probable label is correct
    for every sample, a lower temperature is always better and the result is `COLDEST`. If the posteriors are worse than
    chance, it is `HOTTEST`. Fit the temperature on samples that were not used for training.

    Args:
        log_probs: Log-probabilities of the classes.
        labels: True labels. Each must have a probability above zero.
        sample_weight: Weight of each sample. Default: 1.

    Example:
        >>> sure = torch.tensor([[0.99, 0.01], [0.99, 0.01], [0.99, 0.01]]).log()
        >>> temperature = fit_temperature(sure, torch.tensor([0, 0, 1]))
        >>> round(temperature, 2), temper(sure, temperature)[0].exp()
        (6.63, tensor([0.6667, 0.3333]))

    Reference: Guo et al. 2017, On calibration of modern neural networks, section 4.2.
    """
    check_log_probs(log_probs)
    check_labels(labels, log_probs.shape[-1], log_probs.shape[:-1])
    if not labels.numel():
        raise InputError("`labels` must hold at least one sample, got none.")
    if sample_weight is not None:
        check_weights(sample_weight, labels.shape, name="sample_weight")
        if not sample_weight.any():
            raise InputError("`sample_weight` must not be zero for every sample: there is nothing to fit.")
    place = torch.device("cpu") if log_probs.device.type == "mps" else log_probs.device  # MPS has no float64
    scores = log_probs.detach().to(place, torch.float64)
    weights = torch.ones_like(scores[..., 0]) if sample_weight is None else sample_weight.to(scores)
    at_label = scores.gather(-1, labels.to(place).long().unsqueeze(-1)).squeeze(-1)
    impossible = int((at_label.isneginf() & (weights > 0)).sum())
    if impossible:
        raise InputError(
            f"`log_probs` must give every true label a probability above 0, got {impossible} samples with 0: no "
            "temperature can correct them."
        )
    found = 1 / _best_sharpness(scores, at_label.nan_to_num(neginf=0.0), weights).item()
    return next((end for end in (COLDEST, HOTTEST) if math.isclose(found, end)), found)


def best_without_bound(log_probs: LogProbs, labels: Labels) -> bool:
    """Whether the true label is the most probable one (possibly tied) for every sample.

    The likelihood then has no maximum: it rises with every lower temperature. Such samples do not determine a
    temperature.
    """
    at_label = log_probs.gather(-1, labels.to(log_probs.device).long().unsqueeze(-1)).squeeze(-1)
    return bool((at_label == log_probs.amax(dim=-1)).all())


def temper(log_probs: LogProbs, temperature: float) -> LogProbs:
    r"""Posteriors at another temperature: :math:`\log \mathrm{softmax}(\log p / T)`.

    A temperature above 1 makes posteriors flatter, below 1 sharper; 1 leaves them exactly as they are. The order of the
    labels, ties included, is kept exactly, so the mode, the side order index and unimodality cannot change. If rounding
    would make two different probabilities equal, as for tails at high temperatures, the higher one is raised by one
    unit in the last place (up to four when compiled or exported).

    Args:
        log_probs: Log-probabilities. Scores also work at any temperature but 1.
        temperature: Above 0.

    Returns:
        Log-probabilities; float32 for half precision.

    Example:
        >>> temper(torch.tensor([0.1, 0.8, 0.1]).log(), 2.0).exp()
        tensor([0.2071, 0.5858, 0.2071])
    """
    check_class_scores(log_probs, name="log_probs")
    check_number("temperature", temperature, above=0)
    log_probs = full_precision(log_probs)
    if temperature == 1:
        return log_probs
    limits = torch.finfo(log_probs.dtype)
    scaled = log_probs / min(temperature, limits.max)
    if temperature < COLDEST:  # where quotients could overflow, those of differences are cut
        differences = log_probs - log_probs.amax(dim=-1, keepdim=True)
        scaled = (differences / max(temperature, limits.tiny)).clamp(min=limits.min / 4)
        scaled = torch.where(log_probs.isneginf(), log_probs, scaled)
    tempered = scaled.log_softmax(dim=-1)
    kept = _ordered_as(log_probs, tempered.detach())
    return torch.where(kept > tempered, kept, tempered)  # keeps the gradient where nothing was raised


def _best_sharpness(scores: Tensor, at_label: Tensor, weights: Tensor) -> Tensor:
    """The root of the slope in 1 / T, found on the device without synchronisation."""
    known = scores.masked_fill(scores.isneginf(), 0.0)  # classes of probability 0 contribute nothing
    low, high = scores.new_tensor(1 / HOTTEST), scores.new_tensor(1 / COLDEST)
    for _ in range(_HALVINGS):
        middle = (low * high).sqrt()
        expected = ((middle * scores).softmax(dim=-1) * known).sum(dim=-1)
        too_sharp = (weights * (expected - at_label)).sum() > 0
        low, high = torch.where(too_sharp, low, middle), torch.where(too_sharp, middle, high)
    return (low * high).sqrt()


def _ordered_as(scores: Tensor, log_probs: Tensor) -> Tensor:
    """The log-probabilities, raised by the least amount that makes them differ wherever the scores differ."""
    order = scores.argsort(dim=-1)
    ranks = (scores.gather(-1, order).diff(dim=-1) > 0).cumsum(dim=-1)
    ranks = torch.cat([torch.zeros_like(order[..., :1]), ranks], dim=-1)
    raise_ties = _raised if in_plain_eager() else _raised_by_arithmetic
    return torch.empty_like(log_probs).scatter(-1, order, raise_ties(log_probs.gather(-1, order), ranks))


def _raised(log_probs: Tensor, ranks: Tensor) -> Tensor:
    """Raises each value at least n floats above every value n ranks lower. Values and ranks ascend along the row."""
    # For floats of one sign, the bits read as an integer are the float's position: adding 1 gives the next float.
    integers = torch.int64 if log_probs.dtype == torch.float64 else torch.int32
    counts = -log_probs.clamp(max=0).abs().view(integers).long()
    counts = (counts - ranks).cummax(dim=-1).values + ranks
    return -(-counts).to(integers).view(log_probs.dtype)


def _raised_by_arithmetic(log_probs: Tensor, ranks: Tensor) -> Tensor:
    """The same by n relative steps of 2 eps, for exporters, which cannot reinterpret bits. Takes O(c^2) memory."""
    ranks_above = ranks.unsqueeze(-1) - ranks.unsqueeze(-2)
    # 1 - 2 n eps is exact, and its products with a value, over n, are more than one unit in the last place apart
    step = 1 - 2 * torch.finfo(log_probs.dtype).eps * ranks_above.to(log_probs.dtype)
    return torch.where(ranks_above >= 0, log_probs.unsqueeze(-2) * step, -torch.inf).amax(dim=-1)


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


def bin_sums(
    stated: Tensor, happened: Tensor, weights: Tensor | None = None, *, num_bins: int, num_kinds: int = 1
) -> Tensor:
    """Weighted sums per bin (bins x 3): of the statements, of their probabilities, and of those that came true.

    Several kinds of statements, the last axis, have bins of their own, one kind after the other.
    """
    bins = (stated * num_bins).long().clamp(0, num_bins - 1)  # of NaN any, whose sums stay NaN
    if num_kinds > 1:
        bins = bins + num_bins * torch.arange(num_kinds, device=stated.device)
    rows = torch.stack([torch.ones_like(stated), stated, happened.to(stated)], dim=-1)
    if weights is not None:
        rows = torch.where(weights.unsqueeze(-1) > 0, rows * weights.unsqueeze(-1), 0.0)
    table = torch.zeros(num_kinds * num_bins, 3, dtype=stated.dtype, device=stated.device)
    return table.index_add(0, bins.flatten(), rows.reshape(-1, 3))


def _bins(stated: Tensor, happened: Tensor, num_bins: int) -> tuple[ReliabilityBin, ...]:
    stated = stated.clamp(max=1)
    sums = bin_sums(stated, happened, num_bins=num_bins).tolist()
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
        if own := found.get(each.low):
            count = own.count + each.count
            stated = (own.count * own.stated + each.count * each.stated) / count
            happened = (own.count * own.happened + each.count * each.happened) / count
            each = replace(own, count=count, stated=stated, happened=happened)
        found[each.low] = each
    return tuple(found[low] for low in sorted(found))
