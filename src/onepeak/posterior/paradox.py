"""Posteriors that contradict the order of the labels, so that a person should look twice."""

import torch

from onepeak._check import check_labels, check_number
from onepeak._shapes import Labels, LogProbs, PerSampleBool
from onepeak.constraints.gaps import signed_gaps
from onepeak.errors import InputError
from onepeak.posterior._check import check_class_scores, wide


def runner_up_distance(log_probs: LogProbs) -> Labels:
    """How many steps lie between the most probable label and the second most probable.

    It is 1 for a posterior that makes sense: who says grade 5 first must say grade 4 or 6 second. Of equals, the lowest
    is the first, as in `mode`, and the nearest to it the second.

    Args:
        log_probs: Log-probabilities or scores; only their order matters.

    Returns:
        One integer a sample, from 1 to c - 1.

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


def is_paradoxical(
    log_probs: LogProbs, predicted: Labels | None = None, *, soi_below: float | None = None
) -> PerSampleBool:
    """Whether each posterior contradicts the order of the labels.

    It does where the second most probable label is no neighbour of the first (see `runner_up_distance`), and, if a
    threshold is given, where the side order index to the label decided on lies below it.

    Args:
        log_probs: Log-probabilities or scores; only their order matters.
        predicted: The label decided on, from which the side order index is measured; the mode where not given. Only
            together with a threshold: nothing else depends on it.
        soi_below: The least side order index that is no paradox, from 0 to 1: with 1, every posterior that does not
            fall away from its label strictly is one. Where not given, the index is not looked at.

    Example:
        >>> log_probs = torch.tensor([[0.1, 0.5, 0.4, 0.0], [0.5, 0.1, 0.0, 0.4], [0.6, 0.2, 0.05, 0.15]]).log()
        >>> is_paradoxical(log_probs)
        tensor([False,  True, False])
        >>> is_paradoxical(log_probs, soi_below=0.9)
        tensor([False,  True,  True])
    """
    apart = runner_up_distance(log_probs) > 1
    if predicted is not None:
        check_labels(predicted, log_probs.shape[-1], log_probs.shape[:-1], name="predicted")
    if soi_below is None:
        if predicted is not None:
            raise InputError("`predicted` must be left out without `soi_below`: only the side order index looks at it.")
        return apart
    check_number("soi_below", soi_below, minimum=0, maximum=1)
    label = log_probs.argmax(dim=-1) if predicted is None else predicted
    in_order = (signed_gaps(log_probs, label) < 0).to(wide(log_probs)).mean(dim=-1)
    return apart | (in_order < soi_below)
