"""Intervals that hold the true label as often as promised, whatever the posterior: split conformal sets."""

import math
from fractions import Fraction
from typing import final

from torch import Tensor

from onepeak._check import check_labels, check_number
from onepeak._shapes import Intervals, Labels, LogProbs, PerSample
from onepeak.errors import InputError
from onepeak.posterior._check import check_log_probs
from onepeak.posterior.nested import intervals_within, nested_scores


@final
class ContiguousSets:
    r"""Conformal sets that are intervals of labels, for the posteriors of any method.

    Learnt from samples that were not trained on, `predict` gives each new sample an interval that holds its true label
    with probability at least 1 - alpha and, if no two scores are equal, at most :math:`1 - \alpha + 1 / (n + 1)`; the
    only assumption is that both come from the same source. A poor posterior makes the intervals wide, not wrong; so
    calibrate the temperature before, or not, as long as the same is done to both. Intervals are never empty, unless
    `allow_empty` is asked for.

    The score is the probability *before* a label joins the growing interval (see `nested_scores`). With the label's own
    probability included, as is also done, a posterior that is rightly sure of its mode would push the threshold up for
    all others: on `biopsies` the intervals for alpha 0.1 would be 10 % longer at the same coverage, and empty where the
    mode alone holds more than the threshold. That has a use where the mode alone is right more often than 1 - alpha:
    intervals that are never empty then cover more than was asked for.

    Args:
        alpha: The share of samples whose label may lie outside, between 0 and 1.
        per_class: Keep the promise for the samples of every class, not only for all together (Mondrian sets). A class
            with fewer than 1 / alpha - 1 samples, see `uncertain_classes`, is then taken into every interval.
        allow_empty: Count a label's own probability too. Coverage then is not above 1 - alpha by more than is said
            above where posteriors are rightly sure of their modes; the price is intervals without a label,
            [mode, mode - 1]. Not for two or three classes: whichever label joins last has the same score, infinity,
            and where that one is true for a share alpha of samples, all intervals hold every label.

    Example:
        >>> import torch
        >>> log_probs = torch.tensor([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]).log()
        >>> sets = ContiguousSets(alpha=0.25).calibrate(log_probs, torch.tensor([0, 2, 2]))
        >>> sets.predict(torch.tensor([[0.8, 0.15, 0.05], [0.3, 0.4, 0.3]]).log())
        tensor([[0, 0], [0, 2]])

    Reference: Vovk, Gammerman and Shafer 2005, Algorithmic learning in a random world; Romano, Sesia and Candes 2020,
    Classification with valid and adaptive coverage.
    """

    def __init__(self, alpha: float = 0.1, *, per_class: bool = False, allow_empty: bool = False) -> None:
        self.alpha = check_number("alpha", alpha, above=0, below=1)
        self.per_class = per_class
        self.allow_empty = allow_empty
        self.thresholds: Tensor | None = None
        """After `calibrate`: the highest score within, a number a class."""

    def __repr__(self) -> str:
        return f"ContiguousSets(alpha={self.alpha:g}, per_class={self.per_class}, allow_empty={self.allow_empty})"

    @property
    def uncertain_classes(self) -> tuple[int, ...]:
        """The labels that are in every interval: of too few samples, or often without any probability where true."""
        return tuple(self._known_thresholds().isinf().nonzero().flatten().tolist())

    def calibrate(self, log_probs: LogProbs, labels: Labels) -> "ContiguousSets":
        """Learns how wide intervals must be.

        Args:
            log_probs: Posteriors of samples that were not trained on.
            labels: Their true labels.
        """
        check_log_probs(log_probs)
        num_classes = log_probs.shape[-1]
        check_labels(labels, num_classes, log_probs.shape[:-1])
        counts = labels.flatten().long().bincount(minlength=num_classes)
        most = int(counts.max() if self.per_class else counts.sum())
        enough = samples_needed(self.alpha)
        if most < enough:
            whose = "of one class " if self.per_class else ""
            raise InputError(
                f"`labels` must hold at least {enough} samples {whose}for `alpha` {self.alpha:g}, got {most}: "
                f"calibrate on more{f', or take `alpha` >= {smallest_alpha(most):g}' if most else ''}."
            )
        scores = scores_at(log_probs, labels, own=self.allow_empty)
        if self.per_class:
            groups = [scores[labels.to(scores.device) == label] for label in range(num_classes)]
            self.thresholds = scores.new_tensor([conformal_threshold(group, self.alpha) for group in groups])
        else:
            self.thresholds = scores.new_full((num_classes,), conformal_threshold(scores, self.alpha))
        return self

    def predict(self, log_probs: LogProbs) -> Intervals:
        """The interval of each sample: [lower, upper], both within.

        Args:
            log_probs: Posteriors over as many classes as `calibrate` saw.
        """
        thresholds = self._known_thresholds()
        check_log_probs(log_probs, len(thresholds))
        return intervals_within(log_probs, thresholds, own=self.allow_empty)

    def _known_thresholds(self) -> Tensor:
        if self.thresholds is None:
            raise InputError("`calibrate` must be called first, with posteriors and labels that were not trained on.")
        return self.thresholds


def scores_at(log_probs: LogProbs, labels: Labels, *, own: bool = False) -> PerSample:
    """The score of each sample at its label; see `nested_scores`."""
    scores = nested_scores(log_probs, own=own)
    return scores.gather(-1, labels.to(scores.device).long().unsqueeze(-1)).squeeze(-1)


def conformal_threshold(scores: Tensor, alpha: float) -> float:
    r"""The score that a new sample stays within with probability 1 - alpha or more.

    It is the :math:`\lceil (n + 1) (1 - \alpha) \rceil`-th smallest of n.

    Args:
        scores: The scores of n samples at their true labels.
        alpha: The share of new samples that may miss it.

    Returns:
        The threshold; infinity where the samples are too few for any (fewer than 1 / alpha - 1).

    Example:
        >>> import torch
        >>> conformal_threshold(torch.arange(1.0, 10.0), 0.2), conformal_threshold(torch.arange(1.0, 10.0), 0.05)
        (8.0, inf)
    """
    rank = conformal_rank(scores.numel(), alpha)
    return math.inf if rank > scores.numel() else float(scores.flatten().kthvalue(rank).values)


def samples_needed(alpha: float) -> int:
    """The fewest samples from which a threshold can be learnt.

    Example:
        >>> samples_needed(0.1), samples_needed(0.05)
        (9, 19)
    """
    check_number("alpha", alpha, above=0, below=1)
    return math.ceil(1 / _exact(alpha)) - 1


def smallest_alpha(count: int) -> float:
    """The smallest alpha, to three digits, that so many samples are enough for.

    Example:
        >>> smallest_alpha(9), smallest_alpha(8)
        (0.1, 0.112)
    """
    return math.ceil(1000 / (count + 1)) / 1000


def conformal_rank(count: int, alpha: float) -> int:
    """Which of so many scores, the lowest being 1, is the threshold; one more than there are where they are too few.

    Example:
        >>> conformal_rank(9, 0.2), conformal_rank(9, 0.05)
        (8, 10)
    """
    check_number("alpha", alpha, above=0, below=1)
    return math.ceil((count + 1) * (1 - _exact(alpha)))


def _exact(alpha: float) -> Fraction:
    """The decimal number that was written: as a float, 0.1 is a little more, which moves a rank by one."""
    return Fraction(repr(float(alpha)))
