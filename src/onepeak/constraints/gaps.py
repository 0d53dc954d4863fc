r"""The signed differences of adjacent scores that the paper constrains (Belharbi et al. 2019, eq. 2 and 5)."""

import torch

from onepeak._core.check import check_labels, check_scores
from onepeak._core.tensors import Gaps, Labels, Scores


def order_gaps(scores: Scores, labels: Labels) -> Gaps:
    r"""The differences of adjacent scores, signed so that a negative gap is in order.

    .. math::
        \Delta_k = \begin{cases} s_k - s_{k+1} & k < y \\ s_{k+1} - s_k & k \ge y \end{cases}
        \qquad k = 0, \dots, c - 2

    The scores rise up to the label and fall after it exactly when every gap is negative. A tie is not in order.

    Args:
        scores: One score per class. Logits and log-probabilities give the same gaps.
        labels: The label that should be the peak.

    Returns:
        The c - 1 gaps of each sample.

    Example:
        >>> order_gaps(torch.tensor([1.0, 3.0, 2.0, 2.0]), torch.tensor(1))
        tensor([-2., -1.,  0.])

    Reference: Belharbi et al. 2019, eq. 2 and 5.
    """
    check_scores(scores, None)
    check_labels(labels, scores.shape[-1], scores.shape[:-1])
    return signed_gaps(scores, labels)


def signed_gaps(scores: Scores, labels: Labels) -> Gaps:
    """`order_gaps` without input checks, for callers that have already checked."""
    differences = scores.diff(dim=-1)
    below = torch.arange(differences.shape[-1], device=labels.device) < labels.unsqueeze(-1)
    return torch.where(below, -differences, differences)


def pairs_in_order(scores: Scores, labels: Labels) -> Labels:
    """Counts how many of the c - 1 pairs strictly fall away from a label, without input checks."""
    return (signed_gaps(scores, labels) < 0).sum(dim=-1)  # -inf minus -inf is NaN: a tie, not in order
