"""Calibration on the validation part: the temperature of the posteriors, and the width of intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import torch
from torch import Tensor

from onepeak._core.check import check_number
from onepeak._core.tensors import Intervals, Labels, LogProbs
from onepeak._core.wording import counted
from onepeak.errors import InputError, Note, in_documentation
from onepeak.metrics.catalog import collection
from onepeak.metrics.functional import quadratic_weighted_kappa
from onepeak.posterior import KappaRule, covers, fit_temperature, sizes, temper
from onepeak.posterior.calibrate import best_without_bound
from onepeak.posterior.conformal import (
    conformal_rank,
    coverage_range,
    intervals_within,
    samples_needed,
    scores_at,
    smallest_alpha,
    widened,
)
from onepeak.posterior.predictions import Combine, Predictions

ALPHA = 0.1
"""Default share of samples that may lie outside their interval."""
FEWEST = 10
"""Fewest samples to fit a temperature to."""
ENOUGH = 100
"""Number of validation samples, or of their groups, from which no warning is given about small numbers."""
_MOST_SCORES = 1000
_DIGITS = 1e6


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """How to calibrate a model's posteriors; learnt from the validation part, see `calibration_of`."""

    temperature: float = 1.0
    num_samples: int
    """Number of validation samples."""
    scores: tuple[float, ...]
    """Their conformal scores at the true labels in ascending order (`onepeak.posterior.conformal.nested_scores`), or a
    selection at equal steps of rank if there are very many."""
    note: str | None = None
    """Why the temperature was left at 1, if it was."""
    qwk: KappaRule | None = None
    """The decision for the highest quadratic weighted kappa; None if it was no better on the validation part than the
    method's own."""
    num_groups: int = 0
    """Number of groups of the validation samples, where some have several; else 0."""
    group_scores: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """The same scores of one prediction per group, for each way to combine its samples."""

    def __post_init__(self) -> None:
        check_number("temperature", self.temperature, above=0)
        object.__setattr__(self, "scores", _with_infinity(self.scores))
        by_way = {how: _with_infinity(scores) for how, scores in self.group_scores.items()}
        object.__setattr__(self, "group_scores", by_way)

    def temper(self, log_probs: LogProbs) -> LogProbs:
        """Returns the posteriors at the fitted temperature; the order of their probabilities does not change."""
        return temper(log_probs, self.temperature)

    def allows(self, alpha: float) -> bool:
        """Returns whether the validation part is large enough for intervals at this alpha."""
        return self.num_samples >= samples_needed(alpha)

    @property
    def smallest_alpha(self) -> float:
        """The smallest alpha that the validation part allows, rounded up to three digits."""
        return smallest_alpha(self.num_samples)

    def threshold(self, alpha: float) -> float:
        """Returns the conformal threshold; if scores were left out, the next higher score that was kept.

        Example:
            >>> Calibration(num_samples=9, scores=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)).threshold(0.2)
            0.7
        """
        if not self.allows(alpha):
            raise InputError(
                f"`alpha` must be >= {self.smallest_alpha:g} for a model whose validation part had {self.num_samples} "
                f"samples, got {alpha:g}: that needs {samples_needed(alpha)} samples."
            )
        return _ranked(self.scores, self.num_samples, alpha)

    def intervals(self, log_probs: LogProbs, predicted: Labels, alpha: float) -> Intervals:
        """Returns an interval per sample that contains its true label with probability 1 - alpha.

        The interval always contains the predicted label. The posteriors are those before the temperature.
        """
        return _within(self.temper(log_probs), predicted, self.threshold(alpha))

    def allows_groups(self, alpha: float, how: Combine) -> bool:
        """Returns whether the validation part had enough groups for intervals of groups at this alpha."""
        return how in self.group_scores and self.num_groups >= samples_needed(alpha)

    def group_intervals(self, log_probs: LogProbs, predicted: Labels, alpha: float, how: Combine) -> Intervals:
        """Returns an interval per group that contains its true class with probability 1 - alpha.

        The posteriors are calibrated ones of samples, combined. What the guarantee counts are groups: samples of one
        group need not be independent.
        """
        return _within(log_probs, predicted, _ranked(self.group_scores[how], self.num_groups, alpha))


def _with_infinity(scores: Sequence[float]) -> tuple[float, ...]:
    """JSON has no infinity: it is null in a file, which is read as NaN."""
    return tuple(math.inf if math.isnan(score) else score for score in scores)


def _ranked(scores: Sequence[float], count: int, alpha: float) -> float:
    return scores[(conformal_rank(count, alpha) - 1) * len(scores) // count]


def _within(log_probs: LogProbs, predicted: Labels, threshold: float) -> Intervals:
    return widened(intervals_within(log_probs, threshold), predicted)


def calibration_of(valid: Predictions) -> Calibration:
    """Fits the temperature and the conformal scores to the validation part.

    The same part chooses the epoch and fits the temperature. The model therefore does slightly better on it than on new
    samples, and the intervals are slightly too short. In a simulation with the true posteriors of `biopsies` under
    noise and the best of 60 epochs chosen, intervals at nominal coverage 0.900 cover 0.894 with 100 validation samples
    and 0.896 with 300 (both to 0.003). For the exact guarantee, calibrate `onepeak.posterior.ContiguousSets` on samples
    that were used for nothing else.
    """
    temperature, note = _temperature(valid)
    tempered = replace(valid, log_probs=temper(valid.log_probs, temperature))
    num_groups = len(set(valid.groups))
    by_way: dict[str, tuple[float, ...]] = {}
    if 0 < num_groups < len(valid):
        ways: tuple[Combine, ...] = get_args(Combine)
        by_way = {how: _scores(tempered.combined(valid.groups, how)) for how in ways}
    return Calibration(
        temperature=temperature,
        num_samples=len(valid.truth),
        scores=_scores(tempered),
        note=note,
        qwk=_kappa_rule(tempered),
        num_groups=num_groups if by_way else 0,
        group_scores=by_way,
    )


def _kappa_rule(tempered: Predictions) -> KappaRule | None:
    if len(tempered.truth) < FEWEST:
        return None
    rule, num_classes = KappaRule.learn(tempered.log_probs), tempered.log_probs.shape[-1]
    own, other = (
        quadratic_weighted_kappa(labels, tempered.truth, num_classes=num_classes)
        for labels in (tempered.predicted_index, rule(tempered.log_probs))
    )
    return rule if other > own else None


def _scores(found: Predictions) -> tuple[float, ...]:
    return tuple(map(_rounded_up, _thinned(scores_at(found.log_probs, found.truth).sort().values.tolist())))


def few_samples_note(num_samples: int, num_groups: int | None = None) -> Note | None:
    """Returns a note on intervals that were set on few validation samples; None if there are enough.

    Samples of one group may all be covered or missed together, so groups are counted where there are fewer of them.

    Example:
        >>> few_samples_note(24)
        '90 % intervals were set on 24 validation samples: real coverage is likely between 82 and 98 %'
    """
    count = num_samples if num_groups is None else min(num_samples, num_groups)
    if count >= ENOUGH:
        return None
    had = counted(num_samples, "validation sample")
    if num_samples < samples_needed(ALPHA):
        text = f"no {100 * (1 - ALPHA):.0f} % intervals: {had}, and {samples_needed(ALPHA)} are needed"
        return Note("no-intervals", text)
    of = f" of {counted(count, 'group')}" if count < num_samples else ""
    text = f"{100 * (1 - ALPHA):.0f} % intervals were set on {had}{of}: "
    if count < samples_needed(ALPHA):
        return Note("few-samples", f"{text}too few groups to say what they cover")
    low, high = (round(100 * share) for share in coverage_range(count, ALPHA))
    return Note("few-samples", f"{text}real coverage is likely between {low} and {high} %")


def calibrated_figures(calibration: Calibration, test: Predictions) -> dict[str, float]:
    """Measures the calibrated posteriors and their intervals on other samples; see `figures_of`."""
    intervals = None
    if calibration.allows(ALPHA):
        intervals = calibration.intervals(test.log_probs, test.predicted_index, ALPHA)
    return figures_of(calibration.temper(test.log_probs), test.truth, intervals, ALPHA)


def figures_of(
    log_probs: LogProbs, labels: Labels, intervals: Intervals | None, alpha: float | None
) -> dict[str, float]:
    """Returns the probabilistic metrics and, if there are intervals, their coverage and mean length."""
    metrics = collection(log_probs.shape[-1], names=("nll", "rps", "ece"))
    metrics.update(log_probs, labels)
    figures = {name: float(value) for name, value in metrics.compute().items()}
    if intervals is None or alpha is None:
        return figures
    within, length = covers(intervals, labels).double().mean(), sizes(intervals).double().mean()
    return {**figures, "alpha": alpha, "coverage": float(within), "interval_size": float(length)}


def _temperature(valid: Predictions) -> tuple[float, str | None]:
    """Returns the best temperature, or 1 and the reason."""
    count = len(valid.truth)
    if count < FEWEST:
        return 1.0, f"posteriors are not calibrated: {count} validation samples, and {FEWEST} are needed"
    if len(valid.truth.unique()) == 1:
        return 1.0, "posteriors are not calibrated: all validation samples are of one class"
    at_label: Tensor = valid.log_probs.gather(1, valid.truth.unsqueeze(1))
    if at_label.isneginf().any():
        return 1.0, "posteriors are not calibrated: some validation samples have no probability at their true label"
    if best_without_bound(valid.log_probs, valid.truth):
        return (
            1.0,
            "posteriors are not calibrated: every validation sample is predicted correctly, so no temperature is best",
        )
    return fit_temperature(valid.log_probs, valid.truth), None


def _thinned(scores: Sequence[float]) -> list[float]:
    """Returns at most `_MOST_SCORES` of the sorted scores: the highest of each of that many nearly equal stretches."""
    kept = min(len(scores), _MOST_SCORES)
    return [scores[-(-place * len(scores) // kept) - 1] for place in range(1, kept + 1)]


def _rounded_up(score: float) -> float:
    """Rounds up to a few digits: a threshold may be too high but not too low."""
    return score if score == 0 or math.isinf(score) else (math.floor(score * _DIGITS) + 1) / _DIGITS


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
) -> Note:
    """Returns a note on a gap, with the likely reason."""
    found = f"the mean probability of {label!r} is {probability:.3f}, its share of {part} {share:.3f}: "
    if weighted:
        reason = (
            "after class weights or balanced sampling, posteriors speak of classes that are equally frequent (or as "
            "frequent as the weights make them), and decisions by cost will over-call rare ones"
        )
    elif one_peaked >= _ONE_PEAKED:
        reason += f", or one-peaked posteriors may not fit: see {in_documentation('choose')}, section "
        reason += '"When one peak is wrong"'
    return Note("off-by-class", found + reason)
