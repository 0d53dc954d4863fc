"""Posteriors that contradict the order of the labels and deserve a second look."""

import torch

from onepeak._shapes import Labels, LogProbs, PerSampleBool
from onepeak.posterior._check import check_class_scores


def runner_up_distance(log_probs: LogProbs) -> Labels:
    """The distance between the most probable label and the second most probable one.

    It is 1 for a consistent posterior: if grade 5 is most probable, grade 4 or 6 should come second. Among ties, the
    lowest label comes first, as in `mode`, and the one nearest to it second.

    Args:
        log_probs: Log-probabilities or scores; only their order matters.

    Returns:
        One integer per sample, from 1 to c - 1.

    Example:
        >>> runner_up_distance(torch.tensor([[0.1, 0.6, 0.3, 0.0], [0.5, 0.1, 0.0, 0.4]]).log())
        tensor([1, 3])
    """
    check_class_scores(log_probs, name="log_probs")
    first = log_probs.argmax(dim=-1, keepdim=True)
    second_highest = log_probs.topk(2, dim=-1).values[..., 1:]
    distance = (torch.arange(log_probs.shape[-1], device=log_probs.device) - first).abs()
    is_second = (log_probs >= second_highest) & (distance > 0)
    return torch.where(is_second, distance, log_probs.shape[-1]).amin(dim=-1)


def is_paradoxical(log_probs: LogProbs) -> PerSampleBool:
    """Whether each posterior contradicts the order: its second most probable label is not adjacent to the first.

    Args:
        log_probs: Log-probabilities or scores; only their order matters (see `runner_up_distance`).

    Example:
        >>> is_paradoxical(torch.tensor([[0.1, 0.5, 0.4, 0.0], [0.5, 0.1, 0.0, 0.4]]).log())
        tensor([False,  True])
    """
    return runner_up_distance(log_probs) > 1
