"""Does the posterior fall away from a label on both sides, and where it does not, how often and how much."""

from typing import Literal, get_args

from onepeak._check import check_choice, check_labels, check_num_classes
from onepeak._precision import full_precision
from onepeak._shapes import Labels, LogProbs, PerSample, Scores
from onepeak.constraints.gaps import signed_gaps
from onepeak.constraints.order_counts import pairs_in_order
from onepeak.posterior._check import check_class_scores, check_log_probs

Reference = Literal["predicted", "true"]
"""The label the posterior should fall away from: the one that was predicted, or the true one."""


def side_order_index(scores: Scores, reference_labels: Labels) -> PerSample:
    r"""Share of adjacent pairs of classes whose scores fall away from the reference label, strictly.

    .. math::
        \mathrm{SOI}_\nu = \frac{1}{c - 1} \Big( \sum_{k < \nu} [s_k < s_{k+1}] + \sum_{k \ge \nu} [s_k > s_{k+1}] \Big)

    Range 0 to 1, higher is better. A tie is a violation, two probabilities of exactly zero included. Random scores are
    in order for about half of the pairs, see `side_order_chance`.

    Args:
        scores: Logits or log-probabilities, the value is the same. Probabilities in float32 lose their small values to
            underflow, which makes ties: give their logarithm instead.
        reference_labels: The label to fall away from: predicted (is the posterior consistent with its own answer?) or
            true.

    Returns:
        One number a sample.

    Example:
        >>> import torch
        >>> side_order_index(torch.tensor([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4]]).log(), torch.tensor([1, 0]))
        tensor([1.0000, 0.5000])

    Reference: Belharbi et al. 2019, section 4 (performance metrics).
    """
    check_class_scores(scores)
    check_labels(reference_labels, scores.shape[-1], scores.shape[:-1], name="reference_labels")
    return pairs_in_order(scores, reference_labels).to(full_precision(scores).dtype) / (scores.shape[-1] - 1)


def side_order_chance(num_classes: int, *, reference: Reference = "predicted") -> float:
    r"""The side order index that scores drawn at random reach on average.

    A pair is in order by luck half of the time. Where the reference is the highest score itself, the pairs next to it
    are in order always, which adds :math:`1 / c`.

    Example:
        >>> side_order_chance(4), side_order_chance(4, reference="true")
        (0.75, 0.5)
    """
    check_num_classes(num_classes)
    check_choice("reference", reference, get_args(Reference))
    return 0.5 + (1 / num_classes if reference == "predicted" else 0.0)


def num_violations(scores: Scores, reference_labels: Labels) -> Labels:
    """How many adjacent pairs do not fall away from the reference label: (c - 1) (1 - SOI), a tie being one of them.

    Range 0 to c - 1, lower is better.

    Args:
        scores: Logits or log-probabilities.
        reference_labels: The label to fall away from.

    Returns:
        One integer a sample.

    Example:
        >>> import torch
        >>> num_violations(torch.tensor([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4]]).log(), torch.tensor([1, 0]))
        tensor([0, 1])
    """
    check_class_scores(scores)
    check_labels(reference_labels, scores.shape[-1], scores.shape[:-1], name="reference_labels")
    return scores.shape[-1] - 1 - pairs_in_order(scores, reference_labels)


def violation_size(log_probs: LogProbs, reference_labels: Labels) -> PerSample:
    r"""How much probability the posterior climbs on its way out from the reference label, over all pairs together.

    .. math:: \sum_{k < \nu} \max(0, p_k - p_{k+1}) + \sum_{k \ge \nu} \max(0, p_{k+1} - p_k)

    Range 0 to 1, lower is better: a second bump counts with its height above the valley before it, noise far out in the
    tail hardly at all. A tie has size zero, though it is a violation.

    Args:
        log_probs: Log-probabilities of the classes.
        reference_labels: The label to fall away from.

    Returns:
        One number a sample.

    Example:
        >>> import torch
        >>> violation_size(torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.1, 0.4]]).log(), torch.tensor([1, 0]))
        tensor([0.0000, 0.3000])
    """
    check_log_probs(log_probs)
    check_labels(reference_labels, log_probs.shape[-1], log_probs.shape[:-1], name="reference_labels")
    return signed_gaps(full_precision(log_probs).exp(), reference_labels).clamp(min=0).sum(dim=-1)
