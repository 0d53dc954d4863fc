"""Tests whether a posterior has one peak."""

from typing import Literal, TypeAlias, get_args

import torch

from onepeak._check import check_choice, check_number
from onepeak._precision import full_precision
from onepeak._shapes import LogProbs, PerSampleBool
from onepeak.constraints.gaps import signed_gaps
from onepeak.errors import InputError
from onepeak.posterior._check import check_class_scores, check_log_probs

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
