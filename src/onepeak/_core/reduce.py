"""Weighting and reduction of per-sample losses, written once so that every loss behaves the same."""

from typing import Literal, TypeAlias, get_args

import torch
from torch import Tensor, dtype

from onepeak._core.check import check_choice, readable
from onepeak._core.tensors import LabelProbs, Labels, Outputs, PerClass, PerSample
from onepeak.errors import InputError

Reduction: TypeAlias = Literal["none", "mean", "sum"]


def check_reduction(reduction: str) -> None:
    """Checks for one of the three reductions of PyTorch's losses."""
    check_choice("reduction", reduction, get_args(Reduction))


def weights_of_samples(
    labels: Labels | LabelProbs, class_weight: PerClass | None, sample_weight: PerSample | None, precision: dtype
) -> PerSample | None:
    """The weight of each sample: its (expected) class weight times its sample weight; None if neither is given.

    The weights have the precision of the losses: in half precision the sum of many would be rounded or overflow.
    """
    own = None if sample_weight is None else sample_weight.to(precision)
    if class_weight is None:
        return own
    if labels.is_floating_point():
        weights = labels.to(precision) @ class_weight.to(precision)
    else:
        weights = class_weight[labels.long()].to(precision)  # uint8 would index as a mask
    return weights if own is None else weights * own


def sample_per_class(
    scores: Outputs, labels: LabelProbs, sample_weight: PerSample | None
) -> tuple[Tensor, Tensor, Tensor]:
    """A distribution over labels as one sample per class, weighted by its probability: scores, labels and weights.

    Weighted losses, summed over this new last axis, are the expected loss.
    """
    weights = labels.to(scores.dtype)
    if sample_weight is not None:
        weights = weights * sample_weight.to(scores.dtype).unsqueeze(-1)
    classes = torch.arange(labels.shape[-1], device=labels.device).expand(labels.shape)
    return scores.unsqueeze(-2).expand(*labels.shape, scores.shape[-1]), classes, weights


def reduce(weighted: PerSample, weights: PerSample | None, reduction: Reduction) -> Tensor:
    """Reduces losses that are already weighted; the mean divides by the total weight."""
    match reduction:
        case "none":
            return weighted
        case "sum":
            return weighted.sum()
        case "mean":
            if weights is None:
                return weighted.mean()
            if readable(weights) and weights.numel() and not weights.any():
                raise InputError("The weights of a batch must not all be zero: their mean loss is undefined.")
            return weighted.sum() / weights.sum()
