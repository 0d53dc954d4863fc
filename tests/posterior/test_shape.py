import itertools
from typing import get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.errors import InputError
from onepeak.posterior import is_paradoxical, is_unimodal, runner_up_distance
from onepeak.posterior.shape import Unimodality

DEFINITIONS = get_args(Unimodality)


def test_a_second_bump_too_small_for_two_decimals_is_seen():
    distances = (torch.arange(70) - 30).abs().double()
    log_probs = (-0.3 * distances).log_softmax(-1)
    assert is_unimodal(log_probs)
    bump = log_probs.clone()
    bump[60] += 0.5
    assert bump.exp().max() > 0.1
    assert bump[60].exp() < 0.005
    assert not is_unimodal(bump)


def test_classes_without_probability_are_a_tie_that_a_tolerance_lets_pass():
    nothing = torch.tensor([[0.0, float("-inf"), float("-inf")], [0.0, -2.0, float("-inf")]])
    assert is_unimodal(nothing).tolist() == [False, True]
    assert is_unimodal(nothing, 0.1).tolist() == [True, True]
    assert not is_unimodal(torch.tensor([0.4, 0.0, 0.6]).log(), 0.1)


def passes(probs, **settings):
    """By which definitions a posterior has one peak."""
    log_probs = torch.tensor(probs, dtype=torch.float64).log()
    return [name for name in DEFINITIONS if is_unimodal(log_probs, definition=name, **settings)]


def test_each_definition_lets_pass_what_the_one_before_does_not():
    assert passes([0.1, 0.6, 0.3]) == ["strict", "weak", "quasi", "rounded_to_two_decimals"]
    assert passes([0.0, 0.0, 0.7, 0.3]) == ["weak", "quasi", "rounded_to_two_decimals"]  # a tie, of nothing too
    assert passes([0.6, 0.2, 0.05, 0.15]) == ["quasi"]  # out of order behind the neighbour
    assert passes([0.5, 0.1, 0.1, 0.3]) == []  # above the neighbour
    assert passes([0.596, 0.2, 0.1, 0.104]) == ["quasi", "rounded_to_two_decimals"]  # a rise of .004
    assert passes([0.99, 0.002, 0.003, 0.005]) == ["rounded_to_two_decimals"]


@given(scores=st.lists(st.integers(-3, 3), min_size=2, max_size=8), scale=st.floats(0.1, 3))
def test_what_is_strict_is_weak_and_what_is_weak_is_all_else(scores, scale):
    log_probs = (scale * torch.tensor(scores, dtype=torch.float64)).log_softmax(-1)
    strict, weak, quasi, rounded = (bool(is_unimodal(log_probs, definition=name)) for name in DEFINITIONS)
    assert strict <= weak <= min(quasi, rounded)


@given(scores=st.lists(st.floats(-4, 4), min_size=2, max_size=9, unique=True))
def test_two_decimals_are_counted_as_the_benchmark_counts_them(scores):
    probs = torch.tensor(scores, dtype=torch.float64).softmax(-1)
    # written from its description: signs of the rounded differences, zero at both ends, at most one change
    steps = torch.cat([torch.zeros(1), probs, torch.zeros(1)]).diff().round(decimals=2)
    signs = [step > 0 for step in steps.tolist() if step]
    changes = sum(a != b for a, b in itertools.pairwise(signs))
    assert bool(is_unimodal(probs.log(), definition="rounded_to_two_decimals")) == (changes <= 1)


def test_a_rise_of_the_tolerance_passes_where_ties_do():
    bump = torch.tensor([0.0, -1.0, -0.75])
    assert not is_unimodal(bump, 0.25)
    assert is_unimodal(bump, 0.25, definition="weak")
    far = torch.tensor([0.0, -1.0, -2.0, -0.75])
    assert not is_unimodal(far, 0.2, definition="quasi")
    assert is_unimodal(far, 0.25, definition="quasi")


@pytest.mark.bad_input
def test_a_definition_that_is_not_known_or_takes_no_tolerance_is_refused():
    with pytest.raises(InputError, match=r"Unknown `definition` 'quasy'\. Did you mean 'quasi'\?"):
        is_unimodal(torch.zeros(3), definition="quasy")
    with pytest.raises(InputError, match=r"`tolerance` must be 0 if .*, whose tolerance is fixed, got 0\.1\."):
        is_unimodal(torch.zeros(3), 0.1, definition="rounded_to_two_decimals")
    with pytest.raises(InputError, match="`log_probs` must be log-probabilities"):  # which scores have no decimals of
        is_unimodal(torch.zeros(3), definition="rounded_to_two_decimals")


def posteriors(seed, num_classes, rows=20):
    generator = torch.Generator().manual_seed(seed)
    return (3 * torch.randn(rows, num_classes, dtype=torch.float64, generator=generator)).log_softmax(-1)


def slow_distance(row):
    """By the definition: labels sorted from the most probable down, equals by nearness to the first."""
    first = max(range(len(row)), key=lambda label: (row[label], -label))
    others = [label for label in range(len(row)) if label != first]
    second = max(others, key=lambda label: (row[label], -abs(label - first)))
    return abs(second - first)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=9))
def test_the_distance_is_that_of_sorted_labels_ties_included(scores):
    """Few different values, so that equals are common."""
    assert runner_up_distance(torch.tensor(scores, dtype=torch.float64)) == slow_distance(scores)


def test_a_posterior_with_one_peak_is_never_paradoxical():
    labels = torch.arange(70)
    log_probs = (-0.3 * (labels - labels[:, None] - 0.1).abs()).log_softmax(-1)
    assert (runner_up_distance(log_probs) == 1).all()
    assert not is_paradoxical(log_probs).any()


@given(st.integers(0, 2**31), st.integers(2, 12))
def test_a_paradox_is_a_second_label_that_is_no_neighbour_of_the_first(seed, num_classes):
    log_probs = posteriors(seed, num_classes)
    assert is_paradoxical(log_probs).tolist() == [slow_distance(row) > 1 for row in log_probs.tolist()]


def test_a_contradiction_counts_from_the_probability_asked_for():
    log_probs = torch.tensor([[0.5, 0.1, 0.4], [0.94, 0.01, 0.05], [0.9, 0.1, 0.0]]).log()
    assert is_paradoxical(log_probs).tolist() == [True, True, False]
    assert is_paradoxical(log_probs, at_least=0.06).tolist() == [True, False, False]
