import math
import re
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, betabinom

from onepeak.data.datasets.biopsies import grade_log_probs
from onepeak.errors import InputError
from onepeak.posterior import ContiguousSets, covers, median, mode, price_of_contiguity, sizes, temper
from onepeak.posterior.conformal import (
    conformal_rank,
    conformal_threshold,
    coverage_range,
    intervals_within,
    length_scores,
    nested_scores,
    rps_scores,
)

DISTORTIONS = {
    "true": lambda log_probs, _: log_probs,
    "far too sharp": lambda log_probs, _: temper(log_probs, 0.05),
    "far too flat": lambda log_probs, _: temper(log_probs, 5.0),
    "two peaks": lambda log_probs, noise: (log_probs + 2 * noise).log_softmax(-1),
    "no idea": lambda _, noise: noise.log_softmax(-1),
    "upside down": lambda log_probs, _: log_probs.flip(-1),
}


def graded(seed, count):
    """The true posteriors of `biopsies`, without the images, and grades drawn from them."""
    rng = np.random.default_rng(seed)
    log_probs = torch.from_numpy(grade_log_probs(rng.uniform(0, 8, count)))
    chance = torch.from_numpy(rng.uniform(size=(count, 1)))
    labels = (log_probs.exp().cumsum(-1) < chance).sum(-1).clamp(max=7)
    return log_probs, labels, torch.from_numpy(rng.standard_normal(log_probs.shape))


@pytest.mark.parametrize("distortion", DISTORTIONS)
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
def test_coverage_is_within_what_chance_allows_whatever_the_posterior(distortion, alpha):
    """Of n samples to learn from and m new ones, the number within is beta-binomial where no two scores are equal.

    Equal scores (a mode that is met has score 0) only ever widen, so the lower end holds for every posterior, and the
    upper end for those without ties at the threshold. Each end fails by chance once in 100,000 draws; seeds are fixed.
    """
    n, m = 500, 4000
    log_probs, labels, noise = graded(7, n + m)
    log_probs = DISTORTIONS[distortion](log_probs, noise)
    sets = ContiguousSets(alpha=alpha).calibrate(log_probs[:n], labels[:n])
    within = covers(sets.predict(log_probs[n:]), labels[n:]).sum().item()
    rank = math.ceil((n + 1) * (1 - alpha) - 1e-9)
    law = betabinom(m, rank, n + 1 - rank)
    assert within >= law.ppf(1e-5)
    if sets.thresholds[0] > 0:
        assert within <= law.ppf(1 - 1e-5)


@pytest.mark.parametrize("score", ["length", "rps"])
@pytest.mark.parametrize("distortion", ["true", "two peaks", "upside down"])
def test_other_scores_cover_as_promised_with_intervals_around_the_prediction(score, distortion):
    n, m = 500, 4000
    log_probs, labels, noise = graded(8, n + m)
    log_probs = DISTORTIONS[distortion](log_probs, noise)
    sets = ContiguousSets(alpha=0.1, score=score).calibrate(log_probs[:n], labels[:n])
    intervals = sets.predict(log_probs[n:])
    assert covers(intervals, (mode if score == "length" else median)(log_probs[n:])).all()
    law = betabinom(m, (rank := math.ceil((n + 1) * 0.9)), n + 1 - rank)
    assert law.ppf(1e-5) <= covers(intervals, labels[n:]).sum() <= law.ppf(1 - 1e-5)


@given(st.integers(0, 2**31), st.integers(2, 9))
def test_other_scores_are_those_worked_out_label_by_label(seed, num_classes):
    (probs,) = np.random.default_rng(seed).dirichlet([0.5] * num_classes, 1)
    log_probs = torch.from_numpy(np.log(probs))[None]
    steps = np.arange(num_classes)[:, None] <= np.arange(num_classes)[None, :]
    by_hand = ((probs.cumsum()[None, :] - steps) ** 2).sum(axis=1)
    assert rps_scores(log_probs)[0].numpy() == pytest.approx(by_hand, abs=1e-9)
    expected, shorter, peak = np.full(num_classes, np.inf), 0.0, int(probs.argmax())
    for length in range(1, num_classes + 1):
        starts = [low for low in range(num_classes - length + 1) if low <= peak < low + length]
        first = max(starts, key=lambda low: probs[low : low + length].sum())
        inside = slice(first, first + length)
        expected[inside] = np.minimum(expected[inside], shorter)
        shorter = probs[inside].sum()
    assert 1 - length_scores(log_probs)[0].neg().exp().numpy() == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 2**31), st.integers(2, 12), st.sampled_from([length_scores, rps_scores]))
def test_the_labels_up_to_any_other_score_have_no_gap(seed, num_classes, scores_of):
    rows = torch.randn(8, num_classes, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    scores = scores_of((3 * rows).log_softmax(-1))
    lowest = scores.argmin(dim=-1)
    for row, place in zip(scores, lowest.tolist(), strict=True):
        assert (row[place:].diff() >= -1e-12).all()
        assert (row[: place + 1].diff() <= 1e-12).all()


def test_per_class_the_promise_holds_for_every_class():
    """Posteriors that never believe in the outer grades fail there when all classes share a threshold."""
    alpha, n, m = 0.1, 4000, 16_000
    log_probs, labels, _ = graded(3, n + m)
    blind = (log_probs - torch.tensor([9.0, 0, 0, 0, 0, 0, 0, 9.0])).log_softmax(-1)
    shared, own = (
        ContiguousSets(alpha=alpha, per_class=per_class).calibrate(blind[:n], labels[:n]) for per_class in (False, True)
    )
    shares = {
        sets.per_class: torch.stack(
            [covers(sets.predict(blind[n:]), labels[n:])[labels[n:] == label].double().mean() for label in range(8)]
        )
        for sets in (shared, own)
    }
    assert shares[False].min() < 0.7
    for label in range(8):
        learnt, new = int((labels[:n] == label).sum()), int((labels[n:] == label).sum())
        rank = math.ceil((learnt + 1) * (1 - alpha) - 1e-9)
        assert shares[True][label] * new >= betabinom(new, rank, learnt + 1 - rank).ppf(1e-5)


def test_intervals_are_as_short_as_the_sets_of_mapie_which_may_have_gaps():
    from mapie.classification import SplitConformalClassifier
    from mapie.metrics.classification import classification_coverage_score, classification_mean_width_score

    n = 1000
    log_probs, labels, _ = graded(5, 5 * n)

    class Posterior:
        """The posteriors as a scikit-learn classifier whose features are the probabilities."""

        classes_ = np.arange(8)
        __sklearn_is_fitted__ = staticmethod(lambda: True)
        fit = None
        predict_proba = staticmethod(lambda probs: probs)
        predict = staticmethod(lambda probs: probs.argmax(-1))

    probs, truth = log_probs.exp().numpy(), labels.numpy()
    peer = SplitConformalClassifier(Posterior(), confidence_level=0.9, conformity_score="lac")
    theirs = peer.conformalize(probs[:n], truth[:n]).predict_set(probs[n:])[1]
    ours = ContiguousSets(alpha=0.1).calibrate(log_probs[:n], labels[:n]).predict(log_probs[n:])
    coverage, width = covers(ours, labels[n:]).double().mean().item(), sizes(ours).double().mean().item()
    assert coverage == pytest.approx(classification_coverage_score(truth[n:], theirs)[0], abs=0.02)
    assert width == pytest.approx(classification_mean_width_score(theirs)[0], rel=0.03)  # there can be none shorter


@given(st.lists(st.floats(0, 10), min_size=1, max_size=60), st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.5, 0.9]))
def test_the_threshold_is_the_quantile_that_numpy_gives(scores, alpha):
    n = len(scores)
    level = math.ceil(round((n + 1) * (1 - alpha), 9)) / n
    found = conformal_threshold(torch.tensor(scores, dtype=torch.float64), alpha)
    assert found == (math.inf if level > 1 else np.quantile(scores, level, method="inverted_cdf"))


def test_a_round_alpha_is_not_moved_by_its_last_binary_digit():
    """(9 + 1) * (1 - 0.1) is 9, and 100 * (1 - 0.07) is 93, which floats make 92.99999 or 93.00001."""
    for count, alpha, rank in ((9, 0.1, 9), (99, 0.07, 93), (99, 0.01, 99), (999, 0.001, 999)):
        assert conformal_threshold(torch.arange(1.0, count + 1), alpha) == rank


def test_a_class_with_too_few_samples_is_in_every_interval():
    log_probs, labels, _ = graded(1, 600)
    some = (labels != 7) | (torch.arange(600) < 40)
    log_probs, labels = log_probs[some], labels[some]
    assert 0 < (labels == 7).sum() < 9
    sets = ContiguousSets(alpha=0.1, per_class=True).calibrate(log_probs, labels)
    assert sets.uncertain_classes == (7,)
    assert (sets.predict(log_probs)[:, 1] == 7).all()
    assert ContiguousSets(alpha=0.1).calibrate(log_probs, labels).uncertain_classes == ()


def test_intervals_may_be_empty_where_asked_and_then_cover_no_more_than_promised():
    """The mode alone is right in 96 % of samples: an interval that always holds it covers far more than 80 %."""
    alpha, n, m = 0.2, 500, 4000
    log_probs, _, noise = graded(13, n + m)
    sure = temper((log_probs + 0.1 * noise).log_softmax(-1), 0.3)
    rng = np.random.default_rng(1)
    other = torch.from_numpy(rng.integers(0, 8, n + m))
    labels = torch.where(torch.from_numpy(rng.random(n + m) < 0.95), sure.argmax(-1), other)
    rank = math.ceil((n + 1) * (1 - alpha) - 1e-9)
    law = betabinom(m, rank, n + 1 - rank)
    within = {}
    for allow_empty in (False, True):
        sets = ContiguousSets(alpha=alpha, allow_empty=allow_empty).calibrate(sure[:n], labels[:n])
        found = sets.predict(sure[n:])
        within[allow_empty] = covers(found, labels[n:]).sum().item()
        assert (sizes(found) == 0).any() == allow_empty
        assert (sizes(found) >= 0).all()
    assert law.ppf(1e-5) <= within[True] <= law.ppf(1 - 1e-5)
    assert within[False] > 0.95 * m


@pytest.mark.bad_input
@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, math.nan, "0.1"])
def test_alpha_must_lie_between_zero_and_one(alpha):
    with pytest.raises(InputError, match=re.escape(f"`alpha` must be a finite number > 0 and < 1, got {alpha!r}.")):
        ContiguousSets(alpha=alpha)


@pytest.mark.bad_input
def test_a_score_must_be_known_and_fit():
    with pytest.raises(InputError, match="Unknown `score` 'aps'"):
        ContiguousSets(score="aps")
    with pytest.raises(InputError, match="Unknown score 'aps'"):
        intervals_within(torch.tensor([[0.5, 0.5]]).log(), 1.0, score="aps")
    with pytest.raises(InputError, match="`allow_empty` needs `score` 'probability', got 'rps'"):
        ContiguousSets(score="rps", allow_empty=True)


@pytest.mark.bad_input
def test_too_few_samples_for_alpha_are_refused_with_what_would_do():
    log_probs, labels, _ = graded(0, 8)
    message = r"`alpha` 0\.1 needs at least 9 samples to calibrate on, got 8: give more, or an `alpha` >= 0\.112\."
    with pytest.raises(InputError, match=message):
        ContiguousSets(alpha=0.1).calibrate(log_probs, labels)
    ContiguousSets(alpha=0.112).calibrate(log_probs, labels)
    with pytest.raises(InputError, match=r"at least 9 samples of one class to calibrate on, got \d: give more"):
        ContiguousSets(alpha=0.1, per_class=True).calibrate(log_probs, labels)
    with pytest.raises(InputError, match=r"got 0: give more\.$"):  # no alpha would do
        ContiguousSets(alpha=0.1).calibrate(log_probs[:0], labels[:0])


@pytest.mark.bad_input
def test_predicting_comes_after_calibrating_and_with_as_many_classes():
    log_probs, labels, _ = graded(0, 50)
    with pytest.raises(InputError, match="Call `calibrate` first, with posteriors and labels"):
        ContiguousSets().predict(log_probs)
    sets = ContiguousSets().calibrate(log_probs, labels)
    with pytest.raises(InputError, match=r"`log_probs` must have 8 numbers on its last axis, got shape \(2, 3\)"):
        sets.predict(torch.zeros(2, 3).log_softmax(-1))


def posteriors(seed, num_classes, rows=20, sharpness=2.0):
    generator = torch.Generator().manual_seed(seed)
    return (sharpness * torch.randn(rows, num_classes, dtype=torch.float64, generator=generator)).log_softmax(-1)


def one_peaked(seed, num_classes, rows=20):
    """Steps of random height up to a random label and down from it."""
    generator = torch.Generator().manual_seed(seed)
    steps = torch.rand(rows, num_classes, dtype=torch.float64, generator=generator) + 0.01
    peak = torch.randint(num_classes, (rows, 1), generator=generator)
    labels = torch.arange(num_classes)
    return torch.where(labels <= peak, steps, -steps).cumsum(-1).log_softmax(-1)


def grown(probs):
    """The interval grown from the mode, one neighbour after the other: the mass inside before each label joins."""
    lower = upper = max(range(len(probs)), key=lambda label: (probs[label], -label))
    before, mass = {lower: 0.0}, probs[lower]
    while len(before) < len(probs):
        left = probs[lower - 1] if lower > 0 else -1.0
        right = probs[upper + 1] if upper + 1 < len(probs) else -1.0
        lower, upper, new = (lower - 1, upper, lower - 1) if left > right else (lower, upper + 1, upper + 1)
        before[new] = mass
        mass += probs[new]
    return [before[label] for label in range(len(probs))]


@given(st.integers(0, 2**31), st.integers(2, 12))
def test_scores_are_the_mass_before_each_label_joins(seed, num_classes):
    log_probs = posteriors(seed, num_classes)
    inside = 1 - nested_scores(log_probs).neg().exp()
    for row, probs in zip(inside.tolist(), log_probs.exp().tolist(), strict=True):
        assert row == pytest.approx(grown(probs), abs=1e-12)


def test_an_interval_without_a_label_has_no_length():
    log_probs = torch.tensor([[0.1, 0.6, 0.3], [0.8, 0.1, 0.1]]).log()
    assert intervals_within(log_probs, -math.log(1 - 0.7), own=True).tolist() == [[1, 1], [0, -1]]
    assert intervals_within(log_probs, -math.log(1 - 0.95), own=True).tolist() == [[1, 2], [0, 1]]


def test_a_posterior_far_too_sure_still_tells_labels_apart():
    """Every interval holds 1 - 1e-40 of the probability or more."""
    log_probs = (-100.0 * (torch.arange(20) - 7).abs().double() + 0.1 * torch.arange(20)).log_softmax(-1)
    scores = nested_scores(log_probs)
    away = scores[7:]
    assert scores[7] == 0
    assert (away.diff() > 50).all()
    assert scores.isfinite().all()


@given(st.integers(0, 2**31), st.integers(2, 12), st.floats(0.01, 0.99))
def test_of_one_peak_the_interval_is_the_highest_density_set(seed, num_classes, mass):
    """Labels in falling order of probability, until they hold more than the mass asked for."""
    log_probs = one_peaked(seed, num_classes)
    found = intervals_within(log_probs, -math.log(1 - mass))
    for (lower, upper), probs in zip(found.tolist(), log_probs.exp().tolist(), strict=True):
        chosen, total = [], 0.0
        for label in sorted(range(num_classes), key=lambda label: -probs[label]):
            if total > mass:
                break
            chosen.append(label)
            total += probs[label]
        assert list(range(lower, upper + 1)) == sorted(chosen)


def test_gaps_between_labels_of_different_thresholds_are_covered():
    log_probs = torch.tensor([0.05, 0.1, 0.15, 0.6, 0.1]).log()
    thresholds = torch.tensor([math.inf, 0.0, 0.0, 0.0, 0.0])
    assert intervals_within(log_probs, thresholds).tolist() == [0, 3]


@given(st.lists(st.integers(1, 20), min_size=2, max_size=7), st.data())
def test_the_price_is_that_of_the_smallest_set_of_labels_tried(weights, data):
    upper = data.draw(st.integers(0, len(weights) - 1))
    lower = data.draw(st.integers(0, upper))
    inside = sum(weights[lower : upper + 1])
    fewest = next(
        size
        for size in range(1, len(weights) + 1)
        if max(sum(chosen) for chosen in combinations(weights, size)) >= inside
    )
    probs = torch.tensor(weights, dtype=torch.float64) / sum(weights)
    assert price_of_contiguity(probs.log(), torch.tensor([lower, upper])) == upper - lower + 1 - fewest


@given(count=st.integers(19, 200), alpha=st.sampled_from([0.05, 0.1, 0.3, 0.5]), level=st.floats(0.01, 0.99))
def test_the_ends_are_the_quantiles_of_scipy(count, alpha, level):
    rank = conformal_rank(count, alpha)
    expected = beta.interval(level, rank, count + 1 - rank)
    assert coverage_range(count, alpha, level=level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.bad_input
def test_too_few_samples_have_no_range():
    with pytest.raises(InputError, match=r"`count` must be >= 9 for `alpha` 0\.1, got 8"):
        coverage_range(8, 0.1)
    with pytest.raises(InputError, match="`level` must be"):
        coverage_range(20, 0.1, level=1.0)
