r"""The signed differences of adjacent scores that the paper constrains (Belharbi et al. 2019, eq. 2 and 5)."""

import torch

from onepeak._check import check_labels, check_scores
from onepeak._shapes import Gaps, Labels, Scores


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
