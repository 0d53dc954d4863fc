"""Cross-entropy under order constraints: the loss of ELB and PN (Belharbi et al. 2019, eq. 3 and 6).

The mean under the barrier or the penalty, which training computes at every step, takes one pass over the scores: on a
GPU by a kernel for up to 4096 classes (`kernels.fused`), on a CPU with an analytic gradient (`kernels.analytic`).
Autograd differentiates the definition everywhere else, for every other constraint, and with weights, label smoothing
or another reduction.
"""

from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from onepeak._core.check import readable
from onepeak._core.reduce import Reduction, reduce, weights_of_samples
from onepeak._core.tensors import Labels, PerClass, PerSample, Scores, full_precision
from onepeak.constraints.barrier import LogBarrier, log_barrier
from onepeak.constraints.gaps import OrderConstraint, order_cost, signed_gaps
from onepeak.constraints.penalty import QuadraticPenalty
from onepeak.kernels import analytic, fused


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
    if reduction == "mean" and not weighted and label_smoothing == 0:
        if fused.takes(scores) and (on_device := fused_terms(constraint)) is not None:
            return fused.ordered_cross_entropy(
                scores, labels, on_device, partial(_losses, partial(order_cost, constraint))
            )
        if readable(scores) and (form := analytic_form(constraint)) is not None:
            piece, plain = partial(analytic.ordered_piece, form[0]), partial(_losses, form[1])
            return analytic.mean_in_pieces(full_precision(scores), labels, piece, plain)
    scores = full_precision(scores)
    if class_weight is not None:
        class_weight = class_weight.to(scores.dtype)
    if sample_weight is not None:
        sample_weight = sample_weight.to(scores.dtype)
    base = cross_entropy(scores, labels, class_weight=class_weight, label_smoothing=label_smoothing)
    cost = order_cost(constraint, scores, labels)
    if class_weight is not None:
        cost = cost * class_weight[labels.long()]
    losses = base + cost
    if sample_weight is not None:
        losses = losses * sample_weight
    return reduce(losses, weights_of_samples(labels, class_weight, sample_weight, scores.dtype), reduction)


def _losses(cost: analytic.Losses, scores: Scores, labels: Labels) -> PerSample:
    """By the definition: the cost is that of the constraint with the t of now."""
    return cross_entropy(scores, labels) + cost(scores, labels)


def fused_terms(constraint: OrderConstraint) -> fused.FusedTerms | None:
    """The cost of a gap for the GPU kernels, with t on the device; None if they do not implement it."""
    if isinstance(constraint, LogBarrier):
        return fused.FusedTerms(t=constraint.t)
    if isinstance(constraint, QuadraticPenalty):
        return fused.FusedTerms(weight=constraint.weight, slack=constraint.slack)
    return None


def analytic_form(constraint: OrderConstraint) -> tuple[analytic.GapTerms, analytic.Losses] | None:
    """The cost of a gap with its slope, and the definition; None if there is no slope. Both keep the t of now."""
    if isinstance(constraint, LogBarrier):
        t = constraint.read_t()
        return analytic.barrier_terms(t), lambda scores, labels: log_barrier(signed_gaps(scores, labels), t).sum(dim=-1)
    if isinstance(constraint, QuadraticPenalty):
        return analytic.penalty_terms(constraint.weight, constraint.slack), partial(order_cost, constraint)
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
