import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak.serving.inspector.sample_records import answer, rounded, violations
from onepeak.training.calibration import Calibration


def log_probs(*probs):
    return np.log(np.array(probs, dtype=np.float32))


def test_a_posterior_worked_by_hand():
    predictions = answer(log_probs(0.1, 0.05, 0.5, 0.1, 0.25), 2, None)
    assert [(pair.inner, pair.outer, pair.tie) for pair in predictions.violations] == [(1, 0, False), (3, 4, False)]
    assert (predictions.mode, predictions.median, predictions.ranking) == (2, 2, [2, 4, 3])
    assert (predictions.soi, predictions.unimodal, predictions.paradoxical, predictions.interval) == (
        0.5,
        False,
        True,
        None,
    )
    assert predictions.probs == [0.1, 0.05, 0.5, 0.1, 0.25]


def test_of_equals_the_one_nearer_to_the_prediction_ranks_first():
    assert answer(log_probs(0.2, 0.2, 0.4, 0.2), 2, None).ranking == [2, 1, 3]


@given(st.lists(st.integers(1, 6), min_size=2, max_size=9), st.data())
def test_the_pairs_out_of_order_are_those_that_do_not_fall(weights, data):
    predicted = data.draw(st.integers(0, len(weights) - 1))
    found = {(pair.inner, pair.outer): pair.tie for pair in violations(log_probs(*weights), predicted)}
    pairs = [(k + 1, k) for k in range(predicted)] + [(k, k + 1) for k in range(predicted, len(weights) - 1)]
    expected = {(a, b): weights[a] == weights[b] for a, b in pairs if weights[b] >= weights[a]}
    assert found == expected


def test_the_nearest_posterior_has_one_peak_and_is_the_same_where_there_was_one():
    bumpy = answer(log_probs(0.3, 0.1, 0.4, 0.2), 2, None)
    assert all(np.diff(bumpy.projected)[:2] >= 0)
    assert bumpy.projected[3] < bumpy.projected[2]
    assert sum(bumpy.projected) == pytest.approx(1, abs=1e-4)
    smooth = answer(log_probs(0.1, 0.2, 0.4, 0.3), 2, None)
    assert smooth.projected == pytest.approx(smooth.probs, abs=1e-5)


def test_the_interval_is_that_of_the_calibration():
    calibration = Calibration(temperature=1.0, num_samples=9, scores=(0.0,) * 5 + (1.0,) * 4)
    assert answer(log_probs(0.1, 0.6, 0.2, 0.1), 1, calibration).interval == (1, 2)
    few = Calibration(temperature=1.0, num_samples=3, scores=(0.0, 0.1, 0.2))
    assert answer(log_probs(0.1, 0.6, 0.2, 0.1), 1, few).interval is None


def test_a_posterior_that_is_calibrated_already_keeps_its_interval_and_is_not_raw():
    calibration = Calibration(temperature=2.0, num_samples=9, scores=(0.0,) * 5 + (0.3,) * 4)
    own = log_probs(0.1, 0.6, 0.2, 0.1)
    tempered = calibration.temper(torch.tensor(own)[None])[0].numpy()
    raw, shown = answer(own, 1, calibration), answer(tempered, 1, calibration, calibrated=True)
    assert shown.interval == raw.interval
    assert (raw.raw, shown.raw, answer(own, 1, None).raw) == (True, False, False)
    assert shown.probs == pytest.approx(np.exp(tempered), abs=1e-5)


def test_rounding_keeps_five_digits():
    assert rounded(np.array([1 / 3, 1e-9])) == [0.33333, 0.0]
