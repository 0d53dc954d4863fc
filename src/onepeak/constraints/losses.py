"""Losses to drop into any training loop: a base loss under the paper's order constraints."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import final

from torch import Tensor, nn

from onepeak._core.check import (
    check_class_weight,
    check_label_probs,
    check_label_range,
    check_label_shape,
    check_number,
    check_scores,
    check_weights,
    finite_loss,
    is_label_probs,
)
from onepeak._core.reduce import Reduction, check_reduction, reduce, sample_per_class, weights_of_samples
from onepeak._core.tensors import LabelProbs, Labels, PerClass, PerSample, Scores, full_precision
from onepeak.constraints.barrier import T_MAX, LogBarrier
from onepeak.constraints.cross_entropy import ordered_cross_entropy
from onepeak.constraints.gaps import OrderConstraint
from onepeak.constraints.penalty import QuadraticPenalty
from onepeak.errors import InputError


class _OrderLoss(nn.Module, ABC):
    """A loss under a constraint: checks, reduction, and labels that are distributions."""

    class_weight: Tensor | None

    def __init__(self, constraint: OrderConstraint, reduction: Reduction, class_weight: PerClass | None = None) -> None:
        super().__init__()
        check_reduction(reduction)
        self.constraint = constraint
        self.reduction: Reduction = reduction
        self.register_buffer("class_weight", class_weight)

    def forward(self, scores: Scores, labels: Labels | LabelProbs, sample_weight: PerSample | None = None) -> Tensor:
        """The loss of raw scores (logits) of shape (..., num_classes).

        A distribution over the labels, of shape (..., num_classes), gives the expected loss over the label.

        Classes are always the last axis. For scores of shape (N, C, H, W), as `nn.CrossEntropyLoss` takes them, call
        `scores.movedim(1, -1)` first. If W equals C, the shape check cannot detect the mistake.
        """
        check_scores(scores, self.constraint.num_classes)
        if sample_weight is not None:
            check_weights(sample_weight, scores.shape[:-1], name="sample_weight")
        if is_label_probs(labels, scores):
            return finite_loss(self._expected_loss(scores, labels, sample_weight), scores, name="scores")
        check_label_shape(labels, scores.shape[:-1])
        return finite_loss(self._loss(scores, labels, sample_weight, self.reduction), scores, name="scores")

    def _expected_loss(self, scores: Scores, labels: LabelProbs, sample_weight: PerSample | None) -> Tensor:
        num_classes, counts_samples = self.constraint.num_classes, self.constraint.counts_samples
        check_label_probs(labels, num_classes, scores.shape[:-1], counts_samples=counts_samples)
        rows, classes, weights = sample_per_class(full_precision(scores), labels, sample_weight)
        losses = self._loss(rows.flatten(0, -2), classes.flatten(), weights.flatten(), "none").reshape(weights.shape)
        if self.class_weight is not None:
            weights = weights * self.class_weight.to(weights.dtype)
        return reduce(losses.sum(dim=-1), weights.sum(dim=-1), self.reduction)

    @abstractmethod
    def _loss(self, scores: Scores, labels: Labels, sample_weight: PerSample | None, reduction: Reduction) -> Tensor:
        """The weighted and reduced loss of scores and integer labels whose shapes are checked."""

    def tighten(self) -> None:
        """Advances the constraint's schedule, if it has one. Call it once per epoch, after validation."""
        self.constraint.tighten()


class _ConstrainedCrossEntropy(_OrderLoss):
    """The common part of `ELBLoss` and `PenaltyLoss`: everything but the constraint."""

    def __init__(
        self,
        constraint: OrderConstraint,
        class_weight: PerClass | None,
        label_smoothing: float,
        reduction: Reduction,
        *,
        name_of_weight: str,
    ) -> None:
        if class_weight is not None:
            check_class_weight(class_weight, constraint.num_classes, name=name_of_weight)
        super().__init__(constraint, reduction, class_weight)
        self.label_smoothing = check_number("label_smoothing", label_smoothing, minimum=0, maximum=1)

    def _loss(self, scores: Scores, labels: Labels, sample_weight: PerSample | None, reduction: Reduction) -> Tensor:
        try:
            return ordered_cross_entropy(
                scores,
                labels,
                self.constraint,
                class_weight=self.class_weight,
                sample_weight=sample_weight,
                label_smoothing=self.label_smoothing,
                reduction=reduction,
            )
        except IndexError:  # PyTorch has checked every label already; check again only for a clear message
            check_label_range(labels, self.constraint.num_classes)
            raise

    def extra_repr(self) -> str:
        return f"label_smoothing={self.label_smoothing:g}, reduction={self.reduction!r}"


@final
class ELBLoss(_ConstrainedCrossEntropy):
    r"""Cross-entropy under the extended log-barrier: a drop-in for `nn.CrossEntropyLoss` when classes have an order.

    .. math:: \ell = -\log \mathrm{softmax}(s)_y + \sum_{k=0}^{c-2} \hat I(\Delta_k)

    The sum is over the c - 1 pairs of adjacent classes. "mean" divides by the number of samples, or by their total
    weight if weights are given. The loss may be negative. Half-precision scores are computed and returned in float32.
    Classes are the last axis of the scores, not the second as in `nn.CrossEntropyLoss` with (N, C, H, W).

    Args:
        num_classes: Number of classes, at least 2.
        t: Initial t of the barrier.
        growth: Factor applied to t at every `tighten`.
        t_max: Upper limit of t; the default gives way to an initial t above it.
        weight: Class weights, as in `nn.CrossEntropyLoss`; they also apply to the constraints.
        label_smoothing: Label smoothing of the cross-entropy, from 0 to 1.
        reduction: "none", "mean" or "sum".

    Example:
        >>> import torch
        >>> loss = ELBLoss(num_classes=5)
        >>> scores = torch.tensor([[0.0, 1.0, 3.0, 1.0, 0.0]], requires_grad=True)
        >>> loss(scores, torch.tensor([2]))
        tensor(-1.0713, grad_fn=...)
        >>> loss.tighten()  # once per epoch, after validation

    Reference: Belharbi et al. 2019, eq. 6 and 7.
    """

    def __init__(
        self,
        num_classes: int,
        t: float = 1.0,
        growth: float = 1.001,
        t_max: float = T_MAX,
        *,
        weight: PerClass | None = None,
        label_smoothing: float = 0.0,
        reduction: Reduction = "mean",
    ) -> None:
        barrier = LogBarrier(num_classes, t, growth, t_max)
        super().__init__(barrier, weight, label_smoothing, reduction, name_of_weight="weight")


@final
class PenaltyLoss(_ConstrainedCrossEntropy):
    r"""Cross-entropy under the quadratic penalty, the paper's PN.

    .. math:: \ell = -\log \mathrm{softmax}(s)_y + \lambda \sum_{k=0}^{c-2} H(\Delta_k)

    The sum is over the c - 1 pairs of adjacent classes. "mean" divides by the number of samples, or by their total
    weight if weights are given.

    Args:
        num_classes: Number of classes, at least 2.
        weight: The paper's :math:`\lambda`, the weight of the penalty (for class weights see `class_weight`).
        slack: The paper's :math:`\epsilon`.
        class_weight: Class weights; they also apply to the penalty.
        label_smoothing: Label smoothing of the cross-entropy, from 0 to 1.
        reduction: "none", "mean" or "sum".

    Example:
        >>> import torch
        >>> loss = PenaltyLoss(num_classes=3, weight=1.0, slack=0.1)
        >>> loss(torch.tensor([[0.0, 1.0, 2.0]]), torch.tensor([1]))
        tensor(2.6176)

    Reference: Belharbi et al. 2019, eq. 3.
    """

    def __init__(
        self,
        num_classes: int,
        weight: float = 1e-2,
        slack: float = 0.1,
        *,
        class_weight: PerClass | None = None,
        label_smoothing: float = 0.0,
        reduction: Reduction = "mean",
    ) -> None:
        penalty = QuadraticPenalty(num_classes, weight, slack)
        super().__init__(penalty, class_weight, label_smoothing, reduction, name_of_weight="class_weight")


@final
class UnimodalLoss(_OrderLoss):
    """Any loss under any order constraint.

    Args:
        base: A loss of (scores, labels), a function or a module. It returns one loss per sample, which is weighted and
            reduced here. With reduction "mean" it may instead return a scalar, its own mean, which is added as is.
        constraint: An `OrderConstraint`, such as `LogBarrier`.
        reduction: "none", "mean" or "sum". Sample weights, "none" and "sum" require a base with one loss per sample.

    Example:
        >>> import torch
        >>> base = nn.MultiMarginLoss(reduction="none")
        >>> loss = UnimodalLoss(base=base, constraint=LogBarrier(num_classes=4))
        >>> loss(torch.tensor([[0.0, 1.0, 3.0, 1.0]]), torch.tensor([2]))
        tensor(-1.3863)

    Reference: Belharbi et al. 2019, eq. 3 and 6, where C is any loss.
    """

    def __init__(
        self, base: Callable[[Tensor, Tensor], Tensor], constraint: OrderConstraint, *, reduction: Reduction = "mean"
    ) -> None:
        if not callable(base):
            raise InputError(f"`base` must be a loss of (scores, labels), got {type(base).__name__}.")
        if not isinstance(constraint, OrderConstraint):
            raise InputError(f"`constraint` must be a LogBarrier or the like, got {type(constraint).__name__}.")
        if getattr(base, "reduction", None) == "sum":
            raise InputError("`base` must have reduction='none' or 'mean', got 'sum': it would be treated as a mean.")
        super().__init__(constraint, reduction)
        self.base = base

    def _loss(self, scores: Scores, labels: Labels, sample_weight: PerSample | None, reduction: Reduction) -> Tensor:
        cost = self.constraint(scores, labels)
        base = self.base(scores, labels)
        if not isinstance(base, Tensor):
            raise InputError(f"`base` must return a tensor, got {type(base).__name__}.")
        if base.shape == cost.shape:
            losses = base + cost
            weights = weights_of_samples(labels, None, sample_weight, losses.dtype)
            return reduce(losses if weights is None else losses * weights, weights, reduction)
        if base.ndim == 0 and reduction == "mean" and sample_weight is None:
            return base + reduce(cost, None, reduction)
        raise InputError(
            f"`base` must return one loss per sample, of shape {tuple(cost.shape)}, for sample weights and for any "
            f"reduction but 'mean', got shape {tuple(base.shape)}: set its reduction='none'."
        )
