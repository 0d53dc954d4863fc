import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
import torch
from dlordinal import metrics as dlordinal
from hypothesis import given
from hypothesis import strategies as st
from torchmetrics.functional.classification import multiclass_calibration_error

import reference.metrics as reference
from onepeak.metrics.functional import (
    adaptive_calibration_error,
    earth_mover_distance,
    expected_calibration_error,
    negative_log_likelihood,
    ranked_probability_score,
)


@st.composite
def posteriors(draw, *, min_classes=2):
    num_classes, size = draw(st.integers(min_classes, 8)), draw(st.integers(1, 40))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    scores = torch.randn(size, num_classes, generator=generator, dtype=torch.float64) * draw(st.floats(0.1, 8.0))
    return scores.log_softmax(dim=-1), torch.randint(num_classes, (size,), generator=generator)


@given(case=posteriors())
def test_scikit_learn_agrees_on_the_likelihood(case):
    log_probs, labels = case
    classes = range(log_probs.shape[-1])
    expected = sklearn.metrics.log_loss(labels, log_probs.exp().numpy(), labels=classes)
    assert negative_log_likelihood(log_probs, labels).mean().item() == pytest.approx(expected, rel=1e-6)


@given(case=posteriors())
def test_dlordinal_agrees_on_the_ranked_probability_score(case):
    log_probs, labels = case
    expected = dlordinal.ranked_probability_score(labels.numpy(), log_probs.exp().numpy())
    assert ranked_probability_score(log_probs, labels).mean().item() == pytest.approx(expected)


@given(case=posteriors(), data=st.data())
def test_scipy_agrees_on_the_earth_movers_distance_to_labels_and_to_posteriors(case, data):
    log_probs, labels = case
    classes = range(log_probs.shape[-1])
    truth = (log_probs * data.draw(st.floats(-1, 1))).log_softmax(dim=-1)
    for target, weights in ((labels, torch.eye(len(classes))[labels]), (truth, truth.exp())):
        theirs = [
            scipy.stats.wasserstein_distance(classes, classes, p, q)
            for p, q in zip(log_probs.exp().numpy(), weights.numpy(), strict=True)
        ]
        assert earth_mover_distance(log_probs, target).tolist() == pytest.approx(theirs, abs=1e-9)


@pytest.mark.bad_input
def test_a_truth_that_is_neither_labels_nor_a_posterior_over_the_classes_is_refused():
    log_probs = torch.tensor([[0.5, 0.5]]).log()
    with pytest.raises(ValueError, match="`truth` must be integers from 0 to 1, got 2"):
        earth_mover_distance(log_probs, torch.tensor([2]))
    with pytest.raises(ValueError, match=r"`truth` must have 2 numbers on its last axis, got shape \(1, 3\)"):
        earth_mover_distance(log_probs, torch.full((1, 3), 1 / 3).log())
    with pytest.raises(ValueError, match=r"`truth` must have shape \(1, 2\), got \(4, 2\)"):
        earth_mover_distance(log_probs, log_probs.expand(4, 2))


@given(case=posteriors(min_classes=3), num_bins=st.integers(1, 20))
def test_torchmetrics_agrees_on_the_calibration_error(case, num_bins):
    log_probs, labels = case
    expected = multiclass_calibration_error(
        log_probs.exp(), labels, num_classes=log_probs.shape[-1], n_bins=num_bins, norm="l1"
    )
    got = expected_calibration_error(log_probs, labels, num_bins=num_bins)
    assert got.item() == pytest.approx(expected.item(), abs=1e-6)


def test_the_adaptive_error_is_that_of_the_slow_reference_whatever_the_order_and_with_weights():
    log_probs = torch.randn(12, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).log_softmax(-1)
    labels, order = torch.arange(12) % 4, torch.randperm(12)
    expected = reference.adaptive_calibration_error(log_probs.numpy(), labels.tolist(), 3)
    assert adaptive_calibration_error(log_probs, labels, num_ranges=3).item() == pytest.approx(expected)
    assert adaptive_calibration_error(log_probs[order], labels[order], num_ranges=3).item() == pytest.approx(expected)
    counts = torch.tensor([2, 1, 0, 3] * 3)
    repeated = torch.arange(12).repeat_interleave(counts)
    weighted = adaptive_calibration_error(log_probs, labels, num_ranges=5, sample_weight=counts.double())
    again = adaptive_calibration_error(log_probs[repeated], labels[repeated], num_ranges=5)
    torch.testing.assert_close(weighted, again)
    assert adaptive_calibration_error(torch.empty(0, 4), torch.empty(0, dtype=torch.int64)).isnan()


def test_a_small_upper_tail_is_not_lost_in_float32():
    # 1 - cumsum would round a tail of 1e-9 to zero
    log_probs = torch.tensor([[0.0, -20.0, -21.0]])
    log_probs = log_probs.log_softmax(dim=-1)
    tail = np.exp(np.float64(-20)) + np.exp(np.float64(-21))
    expected = tail**2 + np.exp(np.float64(-21)) ** 2
    assert ranked_probability_score(log_probs, torch.tensor([0])).item() == pytest.approx(expected, rel=1e-5)


def test_certain_and_right_is_exactly_zero_and_certain_and_wrong_is_infinite():
    certain = torch.tensor([[0.0, 1.0, 0.0]]).log()
    right, wrong = torch.tensor([1]), torch.tensor([2])
    assert str(negative_log_likelihood(certain, right).item()) == "0.0"  # and not -0.0
    assert ranked_probability_score(certain, right).item() == 0
    assert expected_calibration_error(certain, right).item() == 0
    assert negative_log_likelihood(certain, wrong).item() == torch.inf
    assert expected_calibration_error(certain, wrong).item() == 1


def test_a_log_probability_that_rounds_above_zero_is_no_negative_surprise():
    assert negative_log_likelihood(torch.tensor([[1e-7, -20.0]]), torch.tensor([0])).item() == 0
