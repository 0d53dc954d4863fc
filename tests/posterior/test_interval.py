from itertools import combinations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.errors import InputError
from onepeak.posterior import covers, price_of_contiguity, sizes
from onepeak.posterior.interval import widened


def test_the_ends_of_an_interval_are_within():
    intervals = torch.tensor([[1, 3]]).expand(5, 2)
    assert covers(intervals, torch.arange(5)).tolist() == [False, True, True, True, False]
    assert sizes(intervals).tolist() == [3] * 5


def test_an_interval_is_widened_to_its_label_and_no_further():
    intervals = torch.tensor([[1, 3]]).expand(5, 2)
    assert widened(intervals, torch.arange(5)).tolist() == [[0, 3], [1, 3], [1, 3], [1, 3], [1, 4]]


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


def test_of_one_peak_an_interval_around_it_costs_nothing():
    log_probs = (-0.4 * (torch.arange(30) - 11.3).abs()).log_softmax(-1)
    assert price_of_contiguity(log_probs, torch.tensor([9, 14])) == 0


@pytest.mark.bad_input
def test_a_price_needs_a_posterior():
    with pytest.raises(InputError, match="`log_probs` must not be NaN, got NaN in 1 samples"):
        price_of_contiguity(torch.tensor([0.0, torch.nan]), torch.tensor([0, 1]))
