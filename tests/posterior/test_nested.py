import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.errors import InputError
from onepeak.posterior.nested import intervals_within, nested_scores


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


@given(st.integers(0, 2**31), st.integers(2, 12))
def test_with_its_own_probability_a_label_counts_as_inside(seed, num_classes):
    log_probs = posteriors(seed, num_classes)
    inside = 1 - nested_scores(log_probs, own=True).neg().exp()
    for row, probs in zip(inside.tolist(), log_probs.exp().tolist(), strict=True):
        expected = [before + own for before, own in zip(grown(probs), probs, strict=True)]
        assert row == pytest.approx(expected, abs=1e-12)


def test_an_interval_without_a_label_has_no_length():
    log_probs = torch.tensor([[0.1, 0.6, 0.3], [0.8, 0.1, 0.1]]).log()
    assert intervals_within(log_probs, -math.log(1 - 0.7), own=True).tolist() == [[1, 1], [0, -1]]
    assert intervals_within(log_probs, -math.log(1 - 0.95), own=True).tolist() == [[1, 2], [0, 1]]


def test_of_two_equals_neither_is_before_the_other():
    scores = nested_scores(torch.tensor([0.05, 0.2, 0.5, 0.2, 0.05], dtype=torch.float64).log())
    assert (1 - scores.neg().exp()).tolist() == pytest.approx([0.9, 0.5, 0.0, 0.5, 0.9])


def test_behind_a_valley_a_bump_joins_before_what_is_lower_than_the_valley():
    scores = nested_scores(torch.tensor([0.08, 0.5, 0.1, 0.3, 0.02], dtype=torch.float64).log())
    assert (1 - scores.neg().exp()).tolist() == pytest.approx([0.9, 0.0, 0.5, 0.6, 0.98])


@given(st.integers(0, 2**31), st.integers(2, 12))
def test_a_mirrored_scale_mirrors_the_scores(seed, num_classes):
    log_probs = posteriors(seed, num_classes)
    torch.testing.assert_close(nested_scores(log_probs.flip(-1)), nested_scores(log_probs).flip(-1))


def test_a_posterior_far_too_sure_still_tells_labels_apart():
    """Every interval holds 1 - 1e-40 of the probability or more."""
    log_probs = (-100.0 * (torch.arange(20) - 7).abs().double() + 0.1 * torch.arange(20)).log_softmax(-1)
    scores = nested_scores(log_probs)
    away = scores[7:]
    assert scores[7] == 0
    assert (away.diff() > 50).all()
    assert scores.isfinite().all()


def test_a_label_without_probability_joins_last_of_all():
    assert nested_scores(torch.tensor([0.0, -torch.inf, -torch.inf])).tolist() == [0, math.inf, math.inf]


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


@given(st.integers(0, 2**31), st.integers(2, 12))
def test_a_higher_threshold_never_loses_a_label(seed, num_classes):
    log_probs = posteriors(seed, num_classes)
    narrow, wide = intervals_within(log_probs, 0.5), intervals_within(log_probs, 1.5)
    assert ((wide[:, 0] <= narrow[:, 0]) & (narrow[:, 1] <= wide[:, 1])).all()


def test_the_lowest_threshold_leaves_the_mode_and_the_highest_leaves_nothing_out():
    log_probs = posteriors(0, 6)
    mode = log_probs.argmax(-1)
    assert torch.equal(intervals_within(log_probs, 0.0), torch.stack([mode, mode], dim=-1))
    assert intervals_within(log_probs, math.inf).unique(dim=0).tolist() == [[0, 5]]


def test_gaps_between_labels_of_different_thresholds_are_covered():
    log_probs = torch.tensor([0.05, 0.1, 0.15, 0.6, 0.1]).log()
    thresholds = torch.tensor([math.inf, 0.0, 0.0, 0.0, 0.0])
    assert intervals_within(log_probs, thresholds).tolist() == [0, 3]


@pytest.mark.parametrize("shape", [(5,), (2, 3, 5), (0, 5)])
def test_any_leading_shape_is_kept(shape):
    log_probs = torch.randn(shape).log_softmax(-1)
    assert nested_scores(log_probs).shape == shape
    assert intervals_within(log_probs, 1.0).shape == (*shape[:-1], 2)


@pytest.mark.bad_input
def test_rows_that_are_no_posterior_are_refused():
    with pytest.raises(InputError, match="`log_probs` must be log-probabilities, whose exponentials sum to 1"):
        nested_scores(torch.zeros(2, 3))
    with pytest.raises(InputError, match="`log_probs` must not be NaN, got NaN in 1 samples"):
        nested_scores(torch.tensor([[0.0, torch.nan]]))
