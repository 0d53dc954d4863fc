"""Whether the posteriors' mean probabilities are the class frequencies; a temperature cannot repair it if not."""

import torch

from onepeak._shapes import Labels, LogProbs
from onepeak.errors import in_documentation

_SMALLEST = 0.05
_STANDARD_ERRORS = 3
_FEWEST = 30
_ONE_PEAKED = 0.95


def frequency_gap(
    log_probs: LogProbs, labels: Labels, *, num_groups: int | None = None
) -> tuple[int, float, float] | None:
    r"""Returns the class whose mean probability differs most from its share, with both; None if it may be chance.

    A difference is more than chance if it is above 0.05 and above three standard errors, of at least 30 samples. If
    posteriors are right, the share of a class has the standard error :math:`\sqrt{\overline{p(1-p)} / n}`. For a share
    s above the mean probability that is too low in small samples, so :math:`\sqrt{s(1-s) / n}` is taken if it is
    larger. Samples of one group may all deviate alike: with groups, n is their number.

    Args:
        log_probs: Calibrated posteriors.
        labels: True labels.
        num_groups: Number of groups that the samples are from, where known.

    Example:
        >>> posteriors = torch.tensor([[0.5, 0.25, 0.25]]).double().log().expand(100, 3)
        >>> frequency_gap(posteriors, torch.tensor([0] * 70 + [1] * 15 + [2] * 15))
        (0, 0.5, 0.7)
        >>> frequency_gap(posteriors, torch.tensor([0] * 60 + [1] * 20 + [2] * 20))
    """
    count = len(labels) if num_groups is None else num_groups
    if count < _FEWEST:
        return None
    probs = log_probs.double().exp()
    mean = probs.mean(dim=0)
    share = labels.bincount(minlength=len(mean)).double() / len(labels)
    error = (torch.maximum((probs * (1 - probs)).mean(dim=0), share * (1 - share)) / count).sqrt()
    gap = (mean - share).abs()
    gap[gap <= (_STANDARD_ERRORS * error).clamp(min=_SMALLEST)] = 0
    label = int(gap.argmax())
    return (label, float(mean[label]), float(share[label])) if gap[label] else None


def frequency_note(
    label: str, probability: float, share: float, *, part: str, weighted: bool, one_peaked: float, reason: str
) -> str:
    """Returns a note on a gap, with the likely reason.

    Args:
        label: The class.
        probability: Its mean probability.
        share: Its share of the samples.
        part: What the samples are called.
        weighted: Whether the training had class weights or balanced sampling.
        one_peaked: The share of posteriors with one peak.
        reason: What else may be the reason.

    Example:
        >>> frequency_note("II", 0.178, 0.083, part="the test part", weighted=True, one_peaked=1.0, reason="")
        "the mean probability of 'II' is 0.178, its share of the test part 0.083: after class weights or balanced
        sampling, posteriors speak of classes that are equally frequent (or as frequent as the weights make them), and
        decisions by cost will over-call rare ones"
    """
    found = f"the mean probability of {label!r} is {probability:.3f}, its share of {part} {share:.3f}: "
    if weighted:
        return (
            f"{found}after class weights or balanced sampling, posteriors speak of classes that are equally frequent "
            "(or as frequent as the weights make them), and decisions by cost will over-call rare ones"
        )
    if one_peaked < _ONE_PEAKED:
        return found + reason
    return (
        f"{found}{reason}, or one-peaked posteriors may not fit: see {in_documentation('choose')}, section "
        '"When one peak is wrong"'
    )
