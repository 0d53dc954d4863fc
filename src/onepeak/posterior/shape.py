"""Does a posterior have one peak?"""

from onepeak._check import check_number
from onepeak._shapes import LogProbs, PerSampleBool
from onepeak.constraints.gaps import signed_gaps


def is_unimodal(log_probs: LogProbs, tolerance: float = 0.0) -> PerSampleBool:
    """Whether each posterior rises strictly to its mode and falls strictly after it.

    A pair of adjacent classes breaks the order when its log-probabilities go the wrong way by `tolerance` or more, so
    with the default of zero a tie breaks it too.

    Args:
        log_probs: Log-probabilities or scores; only their order matters when the tolerance is zero.
        tolerance: How far, in log-probability, a pair may go the wrong way and still pass.

    Example:
        >>> import torch
        >>> is_unimodal(torch.tensor([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4]]).log())
        tensor([ True, False])
    """
    check_number("tolerance", tolerance, minimum=0)
    return (signed_gaps(log_probs, log_probs.argmax(dim=-1)) < tolerance).all(dim=-1)
