"""Cross-entropy under order constraints: the loss of ELB and PN (Belharbi et al. 2019, eq. 3 and 6)."""

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._check import readable
from onepeak._precision import full_precision
from onepeak._reduce import Reduction, reduce, weights_of_samples
from onepeak._shapes import Labels, PerClass, PerSample, Scores
from onepeak.constraints.order import OrderConstraint
from onepeak.kernels import analytic, few, fused, launch


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
    if plain_mean and launch.takes(scores) and (terms := constraint.fused_terms()) is not None:
        return fused.ordered_cross_entropy(scores, labels, terms, constraint.plain_cost)
    if plain_mean and (loss := mean_of_few(scores, labels, constraint)) is not None:
        return loss
    scores = full_precision(scores)
    if class_weight is not None:
        class_weight = class_weight.to(scores.dtype)
    if sample_weight is not None:
        sample_weight = sample_weight.to(scores.dtype)
    if plain_mean and readable(scores) and (gap_terms := constraint.gap_terms()) is not None:
        return analytic.ordered_cross_entropy(scores, labels, gap_terms, constraint.cost_as_it_is())
    base = cross_entropy(scores, labels, class_weight=class_weight, label_smoothing=label_smoothing)
    cost = constraint.cost(scores, labels)
    if class_weight is not None:
        cost = cost * class_weight[labels.long()]
    losses = base + cost
    if sample_weight is not None:
        losses = losses * sample_weight
    return reduce(losses, weights_of_samples(labels, class_weight, sample_weight, scores.dtype), reduction)


def mean_of_few(scores: Scores, labels: Labels, constraint: OrderConstraint) -> Tensor | None:
    """The plain mean for a batch so small that input checks would dominate its time.

    Returns None where this path does not apply or a check would have failed; the caller then takes the checked path.
    """
    if not few.takes(scores, labels, constraint.num_classes) or (terms := constraint.gap_terms()) is None:
        return None
    try:
        return analytic.ordered_cross_entropy_of_few(scores, labels, terms, constraint.cost_as_it_is())
    except FloatingPointError:
        return None


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
