import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference.metrics as reference
from onepeak.metrics.functional import num_violations, side_order_chance, side_order_index, violation_size
from onepeak.posterior.decide import DECISIONS

GRADES = torch.tensor([4])  # the fifth of eight


def test_figure_1_of_the_paper_equal_cross_entropy_but_only_one_posterior_in_order():
    paradoxical = torch.tensor([[0.26, 0.02, 0.03, 0.05, 0.40, 0.12, 0.04, 0.08]]).log()
    consistent = torch.tensor([[0.01, 0.03, 0.08, 0.17, 0.40, 0.19, 0.09, 0.03]]).log()
    assert paradoxical[0, 4] == consistent[0, 4]
    assert side_order_index(consistent, GRADES).item() == 1.0
    assert side_order_index(paradoxical, GRADES).item() == pytest.approx(5 / 7)
    assert num_violations(paradoxical, GRADES).item() == 2
    assert violation_size(paradoxical, GRADES).item() == pytest.approx(0.24 + 0.04)


def test_ties_are_violations_of_no_size():
    log_probs = torch.tensor([[0.25, 0.25, 0.25, 0.25]]).log()
    assert side_order_index(log_probs, torch.tensor([2])).item() == 0.0
    assert num_violations(log_probs, torch.tensor([2])).item() == 3
    assert violation_size(log_probs, torch.tensor([2])).item() == 0.0


def test_a_perfect_peak_at_70_classes_is_in_order_on_logits_where_probabilities_underflow():
    logits = -2.0 * (torch.arange(70) - 0).abs().float().unsqueeze(0)
    label = torch.tensor([0])
    assert side_order_index(logits, label).item() == 1.0
    assert side_order_index(logits.log_softmax(dim=-1), label).item() == 1.0
    assert side_order_index(logits.softmax(dim=-1), label).item() < 0.8  # what the docstring warns of


@pytest.mark.parametrize("num_classes", [2, 3, 4, 22, 70])
def test_random_scores_reach_the_chance_level(num_classes):
    generator = torch.Generator().manual_seed(num_classes)
    scores = torch.randn(40_000, num_classes, generator=generator)
    labels = torch.randint(num_classes, (40_000,), generator=generator)
    # a share has a spread of 1/2 at most, and the mean of 40,000 of 1/400: four times that is 0.01
    to_mode = side_order_index(scores, scores.argmax(dim=-1)).mean().item()
    to_truth = side_order_index(scores, labels).mean().item()
    assert to_mode == pytest.approx(side_order_chance(num_classes), abs=0.01)
    assert to_truth == pytest.approx(side_order_chance(num_classes, reference="true"), abs=0.01)


@pytest.mark.parametrize("num_classes", [4, 5, 70])
@pytest.mark.parametrize("decision", DECISIONS)
def test_the_chance_of_each_decision_is_that_of_a_simulation_of_its_own(num_classes, decision):
    draws = np.random.default_rng(num_classes).standard_normal((20_000, num_classes))
    probs = np.exp(draws) / np.exp(draws).sum(axis=1, keepdims=True)
    classes = np.arange(num_classes)
    label = {
        "mode": draws.argmax(axis=1),
        "median": (probs.cumsum(axis=1) < 0.5).sum(axis=1),
        "mean": np.floor(probs @ classes + 0.5),
        "floor_of_mean": np.floor(probs @ classes),
    }[decision]
    rises = np.diff(draws, axis=1) > 0
    found = (rises == (classes[:-1] < label[:, None])).mean()
    assert side_order_chance(num_classes, decision=decision) == pytest.approx(found, abs=0.01)
    assert side_order_chance(num_classes, reference="true", decision=decision) == 0.5


@given(
    scores=st.lists(st.integers(-4, 4), min_size=2, max_size=9),  # few values, so many ties
    data=st.data(),
)
def test_each_sample_agrees_with_the_slow_reference(scores, data):
    label = data.draw(st.integers(0, len(scores) - 1))
    tensor, labels = torch.tensor([scores], dtype=torch.float64), torch.tensor([label])
    log_probs = tensor.log_softmax(dim=-1)
    expected = reference.side_order_index(scores, label)
    assert side_order_index(tensor, labels).item() == pytest.approx(expected)
    assert num_violations(tensor, labels).item() == round((1 - expected) * (len(scores) - 1))
    assert violation_size(log_probs, labels).item() == pytest.approx(reference.climb(log_probs[0].exp(), label))


def test_half_precision_scores_give_a_share_that_is_not_rounded():
    scores = torch.arange(70.0).unsqueeze(0).to(torch.bfloat16)
    share = side_order_index(scores, torch.tensor([68]))
    assert share.dtype == torch.float32
    assert share.item() == pytest.approx(68 / 69, abs=1e-7)


@pytest.mark.parametrize("function", [side_order_index, num_violations])
@pytest.mark.bad_input
def test_wrong_scores_and_labels_are_named(function):
    with pytest.raises(ValueError, match=r"`scores` must be a floating-point tensor, got torch\.int64"):
        function(torch.tensor([[1, 2]]), torch.tensor([0]))
    with pytest.raises(ValueError, match=r"`scores` must have at least 2 numbers on its last axis, got shape \(3, 1\)"):
        function(torch.zeros(3, 1), torch.tensor([0, 0, 0]))
    with pytest.raises(ValueError, match="`reference_labels` must be integers from 0 to 2, got 3"):
        function(torch.zeros(1, 3), torch.tensor([3]))
    with pytest.raises(ValueError, match="`scores` must not be NaN, got NaN in 1 samples"):
        function(torch.tensor([[0.0, torch.nan], [0.0, 1.0]]), torch.tensor([1, 1]))


@pytest.mark.bad_input
def test_a_wrong_reference_is_answered_with_the_right_ones():
    with pytest.raises(ValueError, match=r"Unknown `reference` 'pred'\. Did you mean 'predicted'"):
        side_order_chance(4, reference="pred")
    with pytest.raises(ValueError, match=r"Unknown `decision` 'mod'\. Did you mean 'mode'"):
        side_order_chance(4, decision="mod")
    with pytest.raises(ValueError, match="`num_classes` must be an integer >= 2, got 1"):
        side_order_chance(1)
