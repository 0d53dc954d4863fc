"""Split conformal sets: intervals with guaranteed coverage, whatever the posterior."""

import math
from fractions import Fraction
from typing import Literal, TypeAlias, final, get_args

import torch
from torch import Tensor

from onepeak._core.check import check_choice, check_class_scores, check_labels, check_log_probs, check_number
from onepeak._core.registry import unknown_name
from onepeak._core.tensors import Intervals, Labels, LogProbs, PerSample, PerSampleBool, Scores
from onepeak.errors import InputError

Score: TypeAlias = Literal["probability", "length", "rps"]


@final
class ContiguousSets:
    r"""Conformal sets that are intervals of labels, for the posteriors of any method.

    `calibrate` takes samples that were not used for training. `predict` then returns, for each new sample, an interval
    that contains its true label with probability at least 1 - alpha and, if no two scores are equal, at most
    :math:`1 - \alpha + 1 / (n + 1)`. The only assumption is that calibration and new samples are exchangeable. A poor
    posterior makes the intervals wide, not wrong. Temperature scaling beforehand is optional, as long as it is applied
    to both. Intervals are never empty unless you set `allow_empty`.

    The score of a label is by default the probability of the growing interval *before* the label joins (see
    `nested_scores`). Some authors include the label's own probability. Then posteriors that are rightly confident in
    their mode raise the threshold for all others: on `biopsies` at alpha 0.1, intervals would be 10 % longer at the
    same coverage, and empty wherever the mode alone exceeds the threshold. This variant is useful if the mode alone is
    correct more often than 1 - alpha, because intervals that are never empty then cover more than requested.

    Args:
        alpha: The allowed share of samples whose label lies outside, between 0 and 1.
        per_class: Guarantee the coverage for every class, not only overall (Mondrian sets). Every interval then
            includes each class with fewer than 1 / alpha - 1 calibration samples (see `uncertain_classes`).
        allow_empty: Include a label's own probability in its score. The upper bound on coverage above then also holds
            where posteriors are rightly confident in their modes, at the price of empty intervals, [mode, mode - 1].
            Not for two or three classes: the label that joins last always has an infinite score, and if that label is
            the true one for a share alpha of the samples, every interval contains all labels.
        score: What an interval grows by. "probability" adds the more probable neighbour. "length" takes the shortest
            intervals around the mode that hold a probability: other ones than these only where the posterior has
            several peaks. "rps" adds the label with the lower ranked probability score, beginning at the median: it
            weighs how far a label lies from the posterior, so intervals of flat posteriors are shorter and of sharp
            ones longer. All three have the same guarantee; which is shortest depends on the posteriors.

    Example:
        >>> import torch
        >>> log_probs = torch.tensor([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]).log()
        >>> sets = ContiguousSets(alpha=0.25).calibrate(log_probs, torch.tensor([0, 2, 2]))
        >>> sets.predict(torch.tensor([[0.8, 0.15, 0.05], [0.3, 0.4, 0.3]]).log())
        tensor([[0, 0], [0, 2]])

    Reference: Vovk, Gammerman and Shafer 2005, Algorithmic learning in a random world; Romano, Sesia and Candes 2020,
    Classification with valid and adaptive coverage; for "length" Zhang, Chen, Shi, Ma, Xu and Yan 2025, Provably
    minimum-length conformal prediction sets for ordinal classification, arXiv 2511.16845, made nested so that each
    label has a score.
    """

    def __init__(
        self, alpha: float = 0.1, *, per_class: bool = False, allow_empty: bool = False, score: Score = "probability"
    ) -> None:
        self.alpha = check_number("alpha", alpha, above=0, below=1)
        self.per_class = per_class
        self.allow_empty = allow_empty
        self.score = score
        check_choice("score", score, get_args(Score))
        if allow_empty and score != "probability":
            raise InputError(f"`allow_empty` needs `score` 'probability', got {score!r}: leave one of them out.")
        self.thresholds: Tensor | None = None
        """After `calibrate`: the highest score inside an interval, one per class."""

    def __repr__(self) -> str:
        settings = f"per_class={self.per_class}, allow_empty={self.allow_empty}, score={self.score!r}"
        return f"ContiguousSets(alpha={self.alpha:g}, {settings})"

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
            whose = " of one class" if self.per_class else ""
            other = f", or an `alpha` >= {smallest_alpha(most):g}" if most else ""
            raise InputError(
                f"`alpha` {self.alpha:g} needs at least {enough} samples{whose} to calibrate on, got {most}: give "
                f"more{other}."
            )
        scores = scores_at(log_probs, labels, own=self.allow_empty, score=self.score)
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
        return intervals_within(log_probs, thresholds, own=self.allow_empty, score=self.score)

    def _known_thresholds(self) -> Tensor:
        if self.thresholds is None:
            raise InputError("Call `calibrate` first, with posteriors and labels that were not used for training.")
        return self.thresholds


def scores_at(log_probs: LogProbs, labels: Labels, *, own: bool = False, score: Score = "probability") -> PerSample:
    """The score of each sample at its label; see `ContiguousSets`."""
    scores = _scores(log_probs, own, score)
    return scores.gather(-1, labels.to(scores.device).long().unsqueeze(-1)).squeeze(-1)


def conformal_threshold(scores: Tensor, alpha: float) -> float:
    r"""The threshold that the score of a new sample does not exceed with probability at least 1 - alpha.

    It is the :math:`\lceil (n + 1) (1 - \alpha) \rceil`-th smallest of n scores, infinite if there are fewer than
    1 / alpha - 1.
    """
    rank = conformal_rank(scores.numel(), alpha)
    return math.inf if rank > scores.numel() else float(scores.flatten().kthvalue(rank).values)


def samples_needed(alpha: float) -> int:
    """The smallest number of samples that gives a finite threshold."""
    check_number("alpha", alpha, above=0, below=1)
    return math.ceil(1 / _exact(alpha)) - 1


def smallest_alpha(count: int) -> float:
    """The smallest alpha, to three decimals, for which `count` samples are enough."""
    return math.ceil(1000 / (count + 1)) / 1000


def conformal_rank(count: int, alpha: float) -> int:
    """The rank of the threshold among `count` scores, from 1 for the lowest; count + 1 if there are too few."""
    check_number("alpha", alpha, above=0, below=1)
    return math.ceil((count + 1) * (1 - _exact(alpha)))


def _exact(alpha: float) -> Fraction:
    """The decimal number as written: the float 0.1 is slightly larger, which can shift a rank by one."""
    return Fraction(repr(float(alpha)))


def nested_scores(log_probs: LogProbs, *, own: bool = False) -> Scores:
    r"""How late each label joins an interval that grows from the mode.

    The interval always adds its more probable neighbour next. If both are equal, neither counts as inside before the
    other. The score of a label is the probability inside the interval before the label joins, written as

    .. math:: s_k = - \log \big( 1 - P(\text{interval before } k) \big)

    so that even an overconfident posterior, whose intervals all hold 1 - 1e-20, has distinct scores. The mode has
    score 0 and a label of probability 0 has score infinity. Scores rise away from the mode, so the labels up to any
    score form an interval. If the posterior has one peak, it is the highest-density set. With `own`, a label's own
    probability counts as inside; the mode then has a score above 0.
    """
    # without float64 the sums of small tails could not separate labels
    scores = _on_cpu_without_float64(log_probs).log_softmax(dim=-1)
    mode = scores.argmax(dim=-1, keepdim=True)
    labels = torch.arange(scores.shape[-1], device=scores.device)
    # A label joins right after the lowest label between the mode and itself, whose height is its level. Before it
    # joins, the interval holds its own side up to it and, on the other side, the labels of a higher level.
    rising = scores.masked_fill(labels > mode, torch.inf).flip(-1).cummin(dim=-1).values.flip(-1)
    falling = scores.masked_fill(labels < mode, torch.inf).cummin(dim=-1).values
    levels = torch.minimum(rising, falling)
    higher_left = torch.searchsorted(rising.contiguous(), levels, right=True).minimum(mode)
    higher_right = scores.shape[-1] - torch.searchsorted(falling.flip(-1).contiguous(), levels, right=True)
    first = torch.where(labels < mode, labels + (not own), higher_left)
    after_last = torch.where(labels > mode, labels + own, higher_right.maximum(mode + 1))
    nothing = torch.full_like(scores[..., :1], -torch.inf)
    below = torch.cat([nothing, scores.logcumsumexp(dim=-1)], dim=-1).gather(-1, first)
    above = torch.cat([scores.flip(-1).logcumsumexp(dim=-1).flip(-1), nothing], dim=-1).gather(-1, after_last)
    outside = torch.logaddexp(below, above).clamp(max=0)
    return 0 - (outside if own else outside.masked_fill(labels == mode, 0.0))


def length_scores(log_probs: LogProbs) -> Scores:
    r"""How late each label joins the shortest interval around the mode with at least a given probability.

    Of all intervals of one length that contain the mode, the most probable one is taken (of several the lowest). The
    score of a label is :math:`- \log (1 - P)` for the most probable interval that is one label shorter than the first
    of these to contain it; the mode has score 0. These intervals need not contain the shorter ones: labels that have
    joined stay, so the labels up to any score form an interval.
    """
    probs = _on_cpu_without_float64(log_probs).softmax(dim=-1)
    num_classes = probs.shape[-1]
    labels = torch.arange(num_classes, device=probs.device)
    mode = probs.argmax(dim=-1, keepdim=True)
    below = torch.nn.functional.pad(probs.cumsum(dim=-1), (1, 0))  # P(y < k)
    scores = torch.full_like(probs, torch.inf).masked_fill(labels == mode, 0.0)
    best = probs.gather(-1, mode)
    for length in range(2, num_classes + 1):
        starts = labels[: num_classes - length + 1]
        inside = below[..., starts + length] - below[..., starts]
        inside = inside.masked_fill((starts > mode) | (starts + length <= mode), -1.0)
        most, first = inside.max(dim=-1, keepdim=True)
        joined = (first <= labels) & (labels < first + length)
        scores = torch.where(joined, scores.minimum(-torch.log1p(-best.clamp(max=1))), scores)
        best = most.maximum(best)
    return scores


def rps_scores(log_probs: LogProbs) -> Scores:
    r"""The ranked probability score :math:`\sum_k (P(y \le k) - 1[l \le k])^2` of each label l.

    It is convex in the label, with its minimum at the median: the labels up to any score form an interval.
    """
    below = _on_cpu_without_float64(log_probs).softmax(dim=-1).cumsum(dim=-1)[..., :-1]
    nothing = torch.zeros_like(below[..., :1])
    # a label above k counts P(y <= k) squared, any other the square of the rest
    above = torch.cat([nothing, below.square().cumsum(dim=-1)], dim=-1)
    rest = torch.cat([(1 - below).square().flip(-1).cumsum(dim=-1).flip(-1), nothing], dim=-1)
    return above + rest


def _on_cpu_without_float64(log_probs: LogProbs) -> LogProbs:
    """In float64; on the CPU if they are on MPS, which has none."""
    check_log_probs(log_probs)
    place = torch.device("cpu") if log_probs.device.type == "mps" else log_probs.device
    return log_probs.detach().to(place, torch.float64)


def _scores(log_probs: LogProbs, own: bool, score: Score) -> Scores:
    match score:
        case "probability":
            return nested_scores(log_probs, own=own)
        case "length":
            return length_scores(log_probs)
        case "rps":
            return rps_scores(log_probs)
    raise unknown_name("score", score, get_args(Score), argument="score")


def intervals_within(
    log_probs: LogProbs, thresholds: float | Tensor, *, own: bool = False, score: Score = "probability"
) -> Intervals:
    """The labels whose score does not exceed the threshold, as [lower, upper].

    Without `own` they include the mode, or for the score "rps" the median; with it, an empty interval is
    [mode, mode - 1]. With different thresholds per class the labels may have gaps, which the interval fills.
    """
    scores = _scores(log_probs, own, score)
    labels = torch.arange(scores.shape[-1], device=scores.device)
    least = scores.amin(dim=-1, keepdim=True) if score == "rps" else 0  # never empty
    limits = torch.as_tensor(thresholds, dtype=scores.dtype, device=scores.device).clamp(min=least)
    left_out = scores > limits
    lower = labels.masked_fill(left_out, scores.shape[-1]).amin(dim=-1)
    upper = labels.masked_fill(left_out, -1).amax(dim=-1)
    intervals = torch.stack([lower, upper], dim=-1).to(log_probs.device)
    if own:
        mode = log_probs.argmax(dim=-1)
        empty = torch.stack([mode, mode - 1], dim=-1)
        intervals = torch.where(left_out.all(dim=-1, keepdim=True).to(log_probs.device), empty, intervals)
    return intervals


def covers(intervals: Intervals, labels: Labels) -> PerSampleBool:
    """Whether each interval contains its label.

    Example:
        >>> covers(torch.tensor([[0, 2], [1, 1]]), torch.tensor([2, 0]))
        tensor([ True, False])
    """
    return (intervals[..., 0] <= labels) & (labels <= intervals[..., 1])


def sizes(intervals: Intervals) -> Labels:
    """The number of labels in each interval.

    Example:
        >>> sizes(torch.tensor([[0, 2], [1, 1]]))
        tensor([3, 1])
    """
    return intervals[..., 1] - intervals[..., 0] + 1


def widened(intervals: Intervals, labels: Labels) -> Intervals:
    """The intervals, each extended just enough to contain its label.

    Example:
        >>> widened(torch.tensor([[0, 2], [1, 1]]), torch.tensor([1, 3]))
        tensor([[0, 2],
                [1, 3]])
    """
    lower, upper = intervals.unbind(dim=-1)
    return torch.stack([torch.minimum(lower, labels), torch.maximum(upper, labels)], dim=-1)


def price_of_contiguity(log_probs: LogProbs, intervals: Intervals) -> Labels:
    """How many labels each interval could save at the same probability if gaps were allowed.

    It is 0 for posteriors with one peak.

    Example:
        >>> price_of_contiguity(torch.tensor([0.5, 0.05, 0.1, 0.35]).log(), torch.tensor([0, 3]))
        tensor(0)
        >>> price_of_contiguity(torch.tensor([0.5, 0.0, 0.1, 0.4]).log(), torch.tensor([0, 3]))
        tensor(1)
    """
    check_class_scores(log_probs, name="log_probs")
    probs = log_probs.double().exp()
    labels = torch.arange(log_probs.shape[-1], device=log_probs.device)
    inside = (intervals[..., :1] <= labels) & (labels <= intervals[..., 1:])
    mass = (probs * inside).sum(dim=-1, keepdim=True)
    largest_first = probs.sort(dim=-1, descending=True).values.cumsum(dim=-1)
    slack = 1e-12  # the two sums add the same values in a different order
    fewest = (largest_first < mass - slack).sum(dim=-1) + 1
    return sizes(intervals) - torch.minimum(fewest, sizes(intervals))


_STEPS = 50


def coverage_range(count: int, alpha: float, *, level: float = 0.9) -> tuple[float, float]:
    r"""The central range of the coverage over random calibration samples.

    The guarantee of 1 - alpha holds on average over calibrations. The coverage after one calibration on n samples
    follows :math:`\mathrm{Beta}(k, n + 1 - k)` with :math:`k = \lceil (n + 1)(1 - \alpha) \rceil`, the rank of the
    threshold, for any model without tied scores. Ties, as when the predicted label alone is correct more often than
    1 - alpha, only raise the coverage: the lower end still holds.

    Reference: Vovk 2012, Conditional validity of inductive conformal predictors, section 3.
    """
    check_number("level", level, above=0, below=1)
    if count < samples_needed(alpha):
        raise InputError(f"`count` must be >= {samples_needed(alpha)} for `alpha` {alpha:g}, got {count}.")
    rank, rest = conformal_rank(count, alpha), (1 - level) / 2
    return _beta_quantile(rest, rank, count), _beta_quantile(1 - rest, rank, count)


def _beta_quantile(chance: float, rank: int, count: int) -> float:
    """The quantile of Beta(rank, count + 1 - rank) at `chance`, by bisection.

    Its distribution function at x is the probability of at least `rank` hits in `count` trials of probability x.
    """
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if binomial_at_most(count - rank, count, 1 - middle) < chance:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def binomial_at_most(hits: int, count: int, chance: float) -> float:
    """The probability of at most `hits` hits in `count` trials."""
    k, n = torch.arange(hits + 1, dtype=torch.float64), torch.tensor(float(count), dtype=torch.float64)
    ways = (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()
    return float((ways + k * math.log(chance) + (n - k) * math.log1p(-chance)).logsumexp(0).exp())
