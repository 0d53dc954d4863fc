"""Cross-entropy under order constraints: the loss of ELB and PN (Belharbi et al. 2019, eq. 3 and 6)."""

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._core.check import readable
from onepeak._core.reduce import Reduction, reduce, weights_of_samples
from onepeak._core.tensors import Labels, PerClass, PerSample, Scores, full_precision
from onepeak.constraints.cost import analytic_form, cost_of_samples, defined_cost, fused_terms
from onepeak.constraints.order import OrderConstraint
from onepeak.kernels import analytic, fused, launch


def ordered_cross_entropy(
    scores: Scores,
    labels: Labels,
    constraint: OrderConstraint,
    *,
    class_weight: PerClass | None = None,
    sample_weight: PerSample | None = None,
    label_smoothing: float = 0.0,
    reduction: Reduction = "mean",
) -> Tensor:
    """Cross-entropy plus the cost of the constraint, without input checks.

    The mean divides by the total weight of the samples. A class weight applies to the whole loss of a sample,
    constraint included: a class with weight 2 counts as if each of its samples occurred twice.
    """
    weighted = class_weight is not None or sample_weight is not None
    plain_mean = reduction == "mean" and not weighted and label_smoothing == 0
    if plain_mean and launch.takes(scores) and (terms := fused_terms(constraint)) is not None:
        return fused.ordered_cross_entropy(scores, labels, terms, partial(defined_cost, constraint))
    scores = full_precision(scores)
    if class_weight is not None:
        class_weight = class_weight.to(scores.dtype)
    if sample_weight is not None:
        sample_weight = sample_weight.to(scores.dtype)
    if plain_mean and readable(scores) and (form := analytic_form(constraint)) is not None:
        return analytic.ordered_cross_entropy(scores, labels, *form)
    base = cross_entropy(scores, labels, class_weight=class_weight, label_smoothing=label_smoothing)
    cost = cost_of_samples(constraint, scores, labels)
    if class_weight is not None:
        cost = cost * class_weight[labels.long()]
    losses = base + cost
    if sample_weight is not None:
        losses = losses * sample_weight
    return reduce(losses, weights_of_samples(labels, class_weight, sample_weight, scores.dtype), reduction)


def cross_entropy(
    scores: Scores, labels: Labels, *, class_weight: PerClass | None = None, label_smoothing: float = 0.0
) -> PerSample:
    """PyTorch's cross-entropy of each sample, for any leading batch shape with the classes last."""
    losses = F.cross_entropy(
        scores.reshape(-1, scores.shape[-1]),
        labels.reshape(-1).long(),
        weight=class_weight,
        ignore_index=torch.iinfo(torch.int64).min,  # no label is silently ignored
        reduction="none",
        label_smoothing=label_smoothing,
    )
    return losses.reshape(labels.shape)
