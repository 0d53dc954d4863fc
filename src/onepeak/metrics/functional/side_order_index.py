"""Whether posteriors fall away from a label on both sides, and if not, how often and by how much they fail to."""

from functools import cache
from typing import Literal, get_args

import torch

from onepeak._core.check import check_choice, check_class_scores, check_labels, check_log_probs, check_num_classes
from onepeak._core.tensors import Labels, LogProbs, PerSample, Scores, full_precision
from onepeak.constraints.gaps import pairs_in_order, signed_gaps
from onepeak.posterior.decide import DECISIONS

Reference = Literal["predicted", "true"]
"""The label that the posterior should fall away from: the predicted or the true one."""


def side_order_index(scores: Scores, reference_labels: Labels) -> PerSample:
    r"""Share of adjacent pairs of classes whose scores fall strictly away from the reference label.

    .. math::
        \mathrm{SOI}_\nu = \frac{1}{c - 1} \Big( \sum_{k < \nu} [s_k < s_{k+1}] + \sum_{k \ge \nu} [s_k > s_{k+1}] \Big)

    Range 0 to 1, higher is better. A tie is a violation, even between two probabilities of exactly zero. Random scores
    are in order for about half of the pairs, see `side_order_chance`.

    Args:
        scores: Logits or log-probabilities; the value is the same. Small float32 probabilities underflow and then tie:
            pass their logarithm instead.
        reference_labels: The label to fall away from: predicted (is the posterior consistent with its own prediction?)
            or true.

    Example:
        >>> import torch
        >>> side_order_index(torch.tensor([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4]]).log(), torch.tensor([1, 0]))
        tensor([1.0000, 0.5000])

    Reference: Belharbi et al. 2019, section 4 (performance metrics).
    """
    check_class_scores(scores)
    check_labels(reference_labels, scores.shape[-1], scores.shape[:-1], name="reference_labels")
    return pairs_in_order(scores, reference_labels).to(full_precision(scores).dtype) / (scores.shape[-1] - 1)


def side_order_chance(num_classes: int, *, reference: Reference = "predicted", decision: str = "mode") -> float:
    r"""The mean side order index of random scores, drawn from a normal distribution.

    A random pair is in order half of the time. If the reference is the highest score itself, the pairs next to it are
    always in order, which adds :math:`1 / c`. A median or a mean is only near the highest score, which adds less; how
    much is counted on a fixed draw of random scores.

    Args:
        reference: The label that scores should fall away from.
        decision: How the predicted label follows from the posterior, a key of `onepeak.posterior.decide.DECISIONS`.

    Example:
        >>> side_order_chance(4), side_order_chance(4, reference="true")
        (0.75, 0.5)
        >>> round(side_order_chance(4, decision="mean"), 2)
        0.56
    """
    check_num_classes(num_classes)
    check_choice("reference", reference, get_args(Reference))
    check_choice("decision", decision, DECISIONS)
    if reference == "true":
        return 0.5
    return 0.5 + 1 / num_classes if decision == "mode" else _counted_chance(num_classes, decision)


@cache
def _counted_chance(num_classes: int, decision: str) -> float:
    draws = min(20_000, max(1_000, 2_000_000 // num_classes))
    scores = torch.randn(draws, num_classes, generator=torch.Generator().manual_seed(0))
    return float(side_order_index(scores, DECISIONS[decision](scores.log_softmax(dim=-1))).mean())


def num_violations(scores: Scores, reference_labels: Labels) -> Labels:
    """Number of adjacent pairs that do not fall away from the reference label: (c - 1) (1 - SOI).

    Range 0 to c - 1, lower is better. A tie is a violation.

    Returns:
        One integer per sample.

    Example:
        >>> import torch
        >>> num_violations(torch.tensor([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4]]).log(), torch.tensor([1, 0]))
        tensor([0, 1])
    """
    check_class_scores(scores)
    check_labels(reference_labels, scores.shape[-1], scores.shape[:-1], name="reference_labels")
    return scores.shape[-1] - 1 - pairs_in_order(scores, reference_labels)


def violation_size(log_probs: LogProbs, reference_labels: Labels) -> PerSample:
    r"""Total probability by which the posterior rises on the way out from the reference label.

    .. math:: \sum_{k < \nu} \max(0, p_k - p_{k+1}) + \sum_{k \ge \nu} \max(0, p_{k+1} - p_k)

    Range 0 to 1, lower is better. A second bump counts with its height above the valley before it; noise far out in the
    tail hardly counts. A tie has size zero, although it is a violation.

    Example:
        >>> import torch
        >>> violation_size(torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.1, 0.4]]).log(), torch.tensor([1, 0]))
        tensor([0.0000, 0.3000])
    """
    check_log_probs(log_probs)
    check_labels(reference_labels, log_probs.shape[-1], log_probs.shape[:-1], name="reference_labels")
    return signed_gaps(full_precision(log_probs).exp(), reference_labels).clamp(min=0).sum(dim=-1)
