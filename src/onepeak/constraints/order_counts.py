"""How many pairs of adjacent scores are in order: read once for all that is counted, where a GPU's kernels can."""

from dataclasses import dataclass

from onepeak._shapes import Labels, Scores
from onepeak.constraints.gaps import signed_gaps
from onepeak.kernels import fused_order, launch


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OrderCounts:
    """Pairs in order, one number a sample."""

    predicted: Labels
    """The label that was decided on."""
    to_predicted: Labels
    """How many pairs fall away from it, strictly."""
    to_label: Labels
    """How many pairs fall away from the true label, strictly."""


def order_counts(scores: Scores, labels: Labels, predicted: Labels | None = None) -> OrderCounts:
    """Pairs in order to two labels at once, without checks of the input.

    Args:
        scores: One number a class; logits or log-probabilities.
        labels: True labels.
        predicted: The labels that were decided on; the mode (the lowest of equals) where not given.

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
    """How many of the c - 1 pairs fall away from a label, strictly, without checks of the input.

    Example:
        >>> import torch
        >>> pairs_in_order(torch.tensor([1.0, 3.0, 2.0, 2.0]), torch.tensor(1))
        tensor(2)
    """
    if launch.takes(scores):
        return fused_order.order_counts(scores, labels, labels)[2]
    return (signed_gaps(scores, labels) < 0).sum(dim=-1)  # two minus infinities differ by NaN, and they are a tie
