"""Split conformal sets: intervals with guaranteed coverage, whatever the posterior."""

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

    `calibrate` takes samples that were not used for training. `predict` then returns, for each new sample, an interval
    that contains its true label with probability at least 1 - alpha and, if no two scores are equal, at most
    :math:`1 - \alpha + 1 / (n + 1)`. The only assumption is that calibration and new samples are exchangeable. A poor
    posterior makes the intervals wide, not wrong. Temperature scaling beforehand is optional, as long as it is applied
    to both. Intervals are never empty unless you set `allow_empty`.

    The score of a label is the probability of the growing interval *before* the label joins (see `nested_scores`). Some
    authors include the label's own probability. Then posteriors that are rightly confident in their mode raise the
    threshold for all others: on `biopsies` at alpha 0.1, intervals would be 10 % longer at the same coverage, and empty
    wherever the mode alone exceeds the threshold. This variant is useful if the mode alone is correct more often than
    1 - alpha, because intervals that are never empty then cover more than requested.

    Args:
        alpha: The allowed share of samples whose label lies outside, between 0 and 1.
        per_class: Guarantee the coverage for every class, not only overall (Mondrian sets). Every interval then
            includes each class with fewer than 1 / alpha - 1 calibration samples (see `uncertain_classes`).
        allow_empty: Include a label's own probability in its score. The upper bound on coverage above then also holds
            where posteriors are rightly confident in their modes, at the price of empty intervals, [mode, mode - 1].
            Not for two or three classes: the label that joins last always has an infinite score, and if that label is
            the true one for a share alpha of the samples, every interval contains all labels.

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
        """After `calibrate`: the highest score inside an interval, one per class."""

    def __repr__(self) -> str:
        return f"ContiguousSets(alpha={self.alpha:g}, per_class={self.per_class}, allow_empty={self.allow_empty})"

    @property
    def uncertain_classes(self) -> tuple[int, ...]:
        """The labels in every interval: they have too few samples, or often probability 0 when true."""
        return tuple(self._known_thresholds().isinf().nonzero().flatten().tolist())

    def calibrate(self, log_probs: LogProbs, labels: Labels) -> "ContiguousSets":
        """Learns the width of the intervals.

        Args:
            log_probs: Posteriors of samples that were not used for training.
            labels: Their true labels.

        Returns:
            This object.
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
                f"calibrate on more{f', or use `alpha` >= {smallest_alpha(most):g}' if most else ''}."
            )
        scores = scores_at(log_probs, labels, own=self.allow_empty)
        if self.per_class:
            groups = [scores[labels.to(scores.device) == label] for label in range(num_classes)]
            self.thresholds = scores.new_tensor([conformal_threshold(group, self.alpha) for group in groups])
        else:
            self.thresholds = scores.new_full((num_classes,), conformal_threshold(scores, self.alpha))
        return self

    def predict(self, log_probs: LogProbs) -> Intervals:
        """The interval of each sample as [lower, upper], both included.

        Args:
            log_probs: Posteriors over the same number of classes as in `calibrate`.
        """
        thresholds = self._known_thresholds()
        check_log_probs(log_probs, len(thresholds))
        return intervals_within(log_probs, thresholds, own=self.allow_empty)

    def _known_thresholds(self) -> Tensor:
        if self.thresholds is None:
            raise InputError("Call `calibrate` first, with posteriors and labels that were not used for training.")
        return self.thresholds


def scores_at(log_probs: LogProbs, labels: Labels, *, own: bool = False) -> PerSample:
    """The score of each sample at its label; see `nested_scores`."""
    scores = nested_scores(log_probs, own=own)
    return scores.gather(-1, labels.to(scores.device).long().unsqueeze(-1)).squeeze(-1)


def conformal_threshold(scores: Tensor, alpha: float) -> float:
    r"""The threshold that the score of a new sample does not exceed with probability at least 1 - alpha.

    It is the :math:`\lceil (n + 1) (1 - \alpha) \rceil`-th smallest of n scores.

    Args:
        scores: The scores of n samples at their true labels.
        alpha: The allowed share of new samples above the threshold.

    Returns:
        The threshold; infinity if there are too few samples (fewer than 1 / alpha - 1).

    Example:
        >>> import torch
        >>> conformal_threshold(torch.arange(1.0, 10.0), 0.2), conformal_threshold(torch.arange(1.0, 10.0), 0.05)
        (8.0, inf)
    """
    rank = conformal_rank(scores.numel(), alpha)
    return math.inf if rank > scores.numel() else float(scores.flatten().kthvalue(rank).values)


def samples_needed(alpha: float) -> int:
    """The smallest number of samples that gives a finite threshold.

    Example:
        >>> samples_needed(0.1), samples_needed(0.05)
        (9, 19)
    """
    check_number("alpha", alpha, above=0, below=1)
    return math.ceil(1 / _exact(alpha)) - 1


def smallest_alpha(count: int) -> float:
    """The smallest alpha, to three decimals, for which `count` samples are enough.

    Example:
        >>> smallest_alpha(9), smallest_alpha(8)
        (0.1, 0.112)
    """
    return math.ceil(1000 / (count + 1)) / 1000


def conformal_rank(count: int, alpha: float) -> int:
    """The rank of the threshold among `count` scores, from 1 for the lowest; count + 1 if there are too few.

    Example:
        >>> conformal_rank(9, 0.2), conformal_rank(9, 0.05)
        (8, 10)
    """
    check_number("alpha", alpha, above=0, below=1)
    return math.ceil((count + 1) * (1 - _exact(alpha)))


def _exact(alpha: float) -> Fraction:
    """The decimal number as written: the float 0.1 is slightly larger, which can shift a rank by one."""
    return Fraction(repr(float(alpha)))
