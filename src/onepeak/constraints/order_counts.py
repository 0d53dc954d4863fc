"""The number of adjacent pairs in order; a GPU kernel makes all counts in one pass over the scores."""

from dataclasses import dataclass

from onepeak._shapes import Labels, Scores
from onepeak.constraints.gaps import signed_gaps
from onepeak.kernels import fused_order, launch


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OrderCounts:
    """Pairs in order, one count per sample."""

    predicted: Labels
    """The predicted label."""
    to_predicted: Labels
    """The number of pairs that strictly fall away from the predicted label."""
    to_label: Labels
    """The number of pairs that strictly fall away from the true label."""


def order_counts(scores: Scores, labels: Labels, predicted: Labels | None = None) -> OrderCounts:
    """Counts the pairs in order around the true and the predicted label, without input checks.

    Args:
        scores: One score per class; logits or log-probabilities.
        labels: True labels.
        predicted: Predicted labels. Default: the mode, the lowest one if tied.

    Example:
        >>> import torch
        >>> counts = order_counts(torch.tensor([[1.0, 3.0, 2.0, 2.0]]), torch.tensor([0]))
        >>> counts.predicted, counts.to_predicted, counts.to_label
        (tensor([1]), tensor([2]), tensor([1]))
    """
    if launch.takes(scores):
        predicted, to_predicted, to_label = fused_order.order_counts(scores, labels, predicted)
        return OrderCounts(predicted=predicted, to_predicted=to_predicted, to_label=to_label)
    if predicted is None:
        predicted = scores.argmax(dim=-1)
    return OrderCounts(
        predicted=predicted, to_predicted=pairs_in_order(scores, predicted), to_label=pairs_in_order(scores, labels)
    )


def pairs_in_order(scores: Scores, labels: Labels) -> Labels:
    """Counts how many of the c - 1 pairs strictly fall away from a label, without input checks.

    Example:
        >>> import torch
        >>> pairs_in_order(torch.tensor([1.0, 3.0, 2.0, 2.0]), torch.tensor(1))
        tensor(2)
    """
    if launch.takes(scores):
        return fused_order.order_counts(scores, labels, labels)[2]
    return (signed_gaps(scores, labels) < 0).sum(dim=-1)  # -inf minus -inf is NaN: a tie, not in order
