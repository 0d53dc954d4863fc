"""Tests whether a posterior has one peak."""

from typing import Literal, TypeAlias, get_args

import torch

from onepeak._core.check import check_choice, check_class_scores, check_log_probs, check_number
from onepeak._core.tensors import Labels, LogProbs, PerSampleBool, full_precision
from onepeak.constraints.gaps import signed_gaps
from onepeak.errors import InputError

Unimodality: TypeAlias = Literal["strict", "weak", "quasi", "rounded_to_two_decimals"]
"""The definition of one peak, see `is_unimodal`."""


def is_unimodal(log_probs: LogProbs, tolerance: float = 0.0, *, definition: Unimodality = "strict") -> PerSampleBool:
    """Whether each posterior has one peak, by one of the definitions in use.

    - "strict": it rises strictly to its mode and falls strictly after it; ties are violations. This is the default
      everywhere in onepeak, as in the side order index.
    - "weak": it never falls before its mode and never rises after it; ties are allowed, as in textbooks.
    - "quasi": nothing beyond a neighbour of the mode rises above that neighbour; further out the order is free
      (Albuquerque, Cruz, Cardoso 2022).
    - "rounded_to_two_decimals": the differences of adjacent probabilities, rounded to two decimals, change sign at most
      once. This is the test in the published code of Cardoso, Cruz, Albuquerque 2023 (Unimodal distributions for
      ordinal regression). It misses rises of up to .005, so at 70 classes posteriors with many bumps pass. Use it only
      to compare with their results.

    "strict" implies "weak", and "weak" implies both others.

    Args:
        log_probs: Log-probabilities. For the first three definitions with zero tolerance only the order matters, so
            scores also work.
        tolerance: The allowed rise away from the mode, in log-probability: below this for "strict", up to it for "weak"
            and "quasi". Must be 0 for "rounded_to_two_decimals", whose tolerance is fixed.
        definition: The definition of one peak.

    Example:
        >>> log_probs = torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.25, 0.25], [0.4, 0.2, 0.4]]).log()
        >>> is_unimodal(log_probs)
        tensor([ True, False, False])
        >>> is_unimodal(log_probs, definition="weak")
        tensor([ True,  True, False])
    """
    check_number("tolerance", tolerance, minimum=0)
    check_choice("definition", definition, get_args(Unimodality))
    check_class_scores(log_probs, name="log_probs")
    mode = log_probs.argmax(dim=-1)
    match definition:
        case "strict":
            gaps = signed_gaps(log_probs, mode)
            # -inf minus -inf is NaN: a tie, which is a violation only at zero tolerance
            return ((gaps < 0) if tolerance == 0 else ~(gaps >= tolerance)).all(dim=-1)
        case "weak":
            return ~(signed_gaps(log_probs, mode) > tolerance).any(dim=-1)
        case "quasi":
            offsets = torch.arange(log_probs.shape[-1], device=mode.device) - mode.unsqueeze(-1)
            neighbours = log_probs.gather(-1, mode.unsqueeze(-1) + offsets.sign())
            return ~(log_probs - neighbours > tolerance).any(dim=-1)
        case "rounded_to_two_decimals":
            if tolerance:
                raise InputError(
                    "`tolerance` must be 0 if `definition` is 'rounded_to_two_decimals', whose tolerance is fixed, "
                    f"got {tolerance!r}."
                )
            check_log_probs(log_probs)
            steps = full_precision(log_probs).exp().diff(dim=-1).round(decimals=2)
            fallen = (steps < 0).cumsum(dim=-1) > 0
            return ~(fallen & (steps > 0)).any(dim=-1)


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


NOTICEABLE = 0.05
"""The probability from which a second class that contradicts the order is worth a look."""


def is_paradoxical(log_probs: LogProbs, *, at_least: float = 0.0) -> PerSampleBool:
    """Whether each posterior contradicts the order: its second most probable label is not adjacent to the first.

    Args:
        log_probs: Log-probabilities or scores; only their order matters (see `runner_up_distance`).
        at_least: The probability that the second label must have; above 0 needs log-probabilities.

    Example:
        >>> log_probs = torch.tensor([[0.5, 0.1, 0.0, 0.4], [0.994, 0.001, 0.005, 0.0]]).log()
        >>> is_paradoxical(log_probs), is_paradoxical(log_probs, at_least=0.05)
        (tensor([True, True]), tensor([ True, False]))
    """
    found = runner_up_distance(log_probs) > 1
    if check_number("at_least", at_least, minimum=0, below=1) == 0:
        return found
    check_log_probs(log_probs)
    return found & (log_probs.topk(2, dim=-1).values[..., 1].exp() >= at_least)
