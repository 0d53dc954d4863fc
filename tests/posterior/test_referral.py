import math

import numpy as np
import pytest
import scipy.stats
import torch
from sklearn.metrics import roc_auc_score

from onepeak.errors import InputError
from onepeak.posterior.conformal import binomial_at_most
from onepeak.posterior.predictions import Predictions
from onepeak.posterior.referral import (
    Policy,
    area_under_roc,
    error_threshold,
    risk_coverage,
    sensitivity_threshold,
    uncertainties,
    uncertainty_of,
)

PROBS = torch.tensor([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]])
FOUND = Predictions(
    classes=("I", "II", "III"),
    predicted_index=torch.tensor([0, 1]),
    log_probs=PROBS.log(),
    intervals=torch.tensor([[0, 1], [1, 1]]),
    distance=torch.tensor([0.4, 1.2]),
)


def test_each_uncertainty_is_what_its_name_says():
    expected = {
        "probability": [0.3, 0.5],
        "interval": [2, 1],
        "entropy": scipy.stats.entropy(PROBS, axis=1),
        "expected error": [0.2 + 2 * 0.1, 0.2 + 0.3],
        "distance": [0.4, 1.2],
    }
    assert set(uncertainties(FOUND)) == set(expected)
    for name, values in expected.items():
        assert uncertainty_of(FOUND, name).tolist() == pytest.approx(list(values), abs=1e-6)
    assert uncertainty_of(FOUND, "probability", at_least=1).tolist() == pytest.approx([0.3, 0.8])
    assert uncertainty_of(FOUND, "interval", at_least=1).tolist() == [1, 1]
    bare = Predictions(predicted_index=FOUND.predicted_index, log_probs=FOUND.log_probs)
    assert uncertainties(bare) == ("probability", "entropy", "expected error")
    with pytest.raises(InputError, match="'distance' needs a model that has it"):
        uncertainty_of(bare, "distance")


@pytest.mark.parametrize(("count", "number", "chance"), [(0, 59, 0.05), (3, 100, 0.1), (40, 40, 0.5)])
def test_the_binomial_is_that_of_scipy(count, number, chance):
    assert binomial_at_most(count, number, chance) == pytest.approx(
        scipy.stats.binom.cdf(count, number, chance), rel=1e-9
    )


def test_the_area_is_that_of_scikit_learn_with_ties():
    rng = np.random.default_rng(0)
    values, positive = rng.integers(0, 9, 200).astype(float), rng.random(200) < 0.3
    found = area_under_roc(torch.from_numpy(values), torch.from_numpy(positive))
    assert found == pytest.approx(roc_auc_score(positive, values))
    assert math.isnan(area_under_roc(torch.ones(3), torch.zeros(3).bool()))


def test_the_surest_are_answered_first():
    answered, risk = risk_coverage(torch.tensor([0.3, 0.1, 0.2]), torch.tensor([1.0, 0.0, 1.0]))
    assert answered.tolist() == pytest.approx([1 / 3, 2 / 3, 1])
    assert risk.tolist() == pytest.approx([0, 1 / 2, 2 / 3])


def broken_promises(promise):
    """The share of 400 calibrations on 300 samples whose promise fails on 100,000 others."""
    rng = np.random.default_rng(1)

    def draw(count):
        values = rng.random(count)
        return torch.from_numpy(values), torch.from_numpy(rng.random(count) < 0.6 * values)

    values, event = draw(100_000)
    return np.mean([not promise(*draw(300), values, event) for _ in range(400)])


def test_the_sensitivity_holds_as_often_as_promised():
    def holds(values, positive, new, event):
        threshold = sensitivity_threshold(values, positive, 0.9, confidence=0.9)
        return (new[event] >= threshold).double().mean() >= 0.9

    assert 0.02 < broken_promises(holds) < 0.13


def test_the_error_of_what_is_answered_holds_as_often_as_promised():
    def holds(values, wrong, new, event):
        threshold = error_threshold(values, wrong, 0.2, confidence=0.9)
        return threshold is None or event[new < threshold].double().mean() <= 0.2

    assert broken_promises(holds) < 0.13


def test_what_no_threshold_holds_is_none():
    assert error_threshold(torch.arange(50.0), torch.ones(50).bool(), 0.1, confidence=0.95) is None
    assert error_threshold(torch.arange(500.0), torch.zeros(500).bool(), 0.1, confidence=0.95) == math.inf
    assert sensitivity_threshold(torch.arange(58.0), torch.ones(58).bool(), 0.95, confidence=0.95) is None
    assert sensitivity_threshold(torch.arange(59.0), torch.ones(59).bool(), 0.95, confidence=0.95) == 0


def test_a_policy_refers_what_reaches_its_threshold_and_all_that_is_unlike():
    policy = Policy(uncertainty="probability", threshold=0.5, at_least=1)
    assert policy.reasons(FOUND) == (None, "may be II or above")
    odd = Predictions(predicted_index=FOUND.predicted_index, log_probs=FOUND.log_probs, unlike=(("features",), ()))
    assert policy.reasons(odd) == ("unlike the training", "may be 1 or above")
    assert Policy(uncertainty="entropy", threshold=1.0).reasons(FOUND) == (None, "entropy too high")
