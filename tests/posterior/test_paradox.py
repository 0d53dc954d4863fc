import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.errors import InputError
from onepeak.posterior import is_paradoxical, runner_up_distance


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


@given(st.integers(0, 2**31), st.integers(2, 15))
def test_a_mirrored_scale_changes_nothing(seed, num_classes):
    log_probs = posteriors(seed, num_classes)
    assert torch.equal(runner_up_distance(log_probs.flip(-1)), runner_up_distance(log_probs))
    assert torch.equal(is_paradoxical(log_probs.flip(-1)), is_paradoxical(log_probs))


def test_a_posterior_with_one_peak_is_never_paradoxical():
    labels = torch.arange(70)
    log_probs = (-0.3 * (labels - labels[:, None] - 0.1).abs()).log_softmax(-1)
    assert (runner_up_distance(log_probs) == 1).all()
    assert not is_paradoxical(log_probs).any()


def test_two_peaks_far_apart_are_a_paradox():
    assert runner_up_distance(torch.tensor([0.5, 0.1, 0.0, 0.4]).log()) == 3
    assert is_paradoxical(torch.tensor([0.5, 0.1, 0.0, 0.4]).log())


def test_a_tie_for_the_second_place_goes_to_the_neighbour():
    assert runner_up_distance(torch.tensor([0.2, 0.6, 0.0, 0.2]).log()) == 1
    assert runner_up_distance(torch.tensor([0.6, 0.0, 0.2, 0.2]).log()) == 2


def test_a_posterior_all_on_one_label_is_no_paradox():
    assert runner_up_distance(torch.full((5, 5), -torch.inf).fill_diagonal_(0)).tolist() == [1] * 5


@given(st.integers(0, 2**31), st.integers(2, 12))
def test_a_paradox_is_a_second_label_that_is_no_neighbour_of_the_first(seed, num_classes):
    log_probs = posteriors(seed, num_classes)
    assert is_paradoxical(log_probs).tolist() == [slow_distance(row) > 1 for row in log_probs.tolist()]


@pytest.mark.parametrize("shape", [(4,), (2, 3, 4), (0, 4)])
def test_any_leading_shape_is_kept(shape):
    log_probs = torch.randn(shape).log_softmax(-1)
    assert runner_up_distance(log_probs).shape == is_paradoxical(log_probs).shape == shape[:-1]


@pytest.mark.bad_input
def test_bad_input_is_named():
    with pytest.raises(InputError, match=r"`log_probs` must have at least 2 numbers on its last axis, got shape"):
        runner_up_distance(torch.zeros(3, 1))
    with pytest.raises(InputError, match="`log_probs` must not be NaN, got NaN in 1 samples"):
        is_paradoxical(torch.tensor([[0.0, torch.nan], [0.0, 1.0]]))
