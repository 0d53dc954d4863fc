import math

import numpy as np
import pytest
import torch
from scipy.stats import rv_discrete
from torch.nn import functional as F

from onepeak.methods.mean_variance import MeanResidue, MeanVariance


def test_a_loss_worked_by_hand():
    # probabilities 1/2, 0, 1/2 (nearly): mean 1, variance 1
    scores = torch.tensor([[50.0, 0.0, 50.0]])
    mv = MeanVariance(num_classes=3, mean_weight=0.2, variance_weight=0.05)
    assert mv.loss(scores, torch.tensor([0])).item() == pytest.approx(math.log(2) + 0.2 * 0.5 * 1 + 0.05 * 1)
    assert mv.loss(scores, torch.tensor([2])).item() == pytest.approx(math.log(2) + 0.2 * 0.5 * 1 + 0.05 * 1)


def test_mean_and_variance_are_those_of_scipy():
    scores = torch.randn(10, 22, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    labels = torch.arange(10)
    mv = MeanVariance(num_classes=22, mean_weight=0.7, variance_weight=0.3)
    losses = mv.loss(scores, labels, reduction="none")
    entropies = F.cross_entropy(scores, labels, reduction="none")
    for loss, entropy, row, label in zip(losses, entropies, scores, labels, strict=True):
        posterior = rv_discrete(values=(np.arange(22), row.softmax(dim=-1).numpy()))
        mean_term, variance_term = 0.5 * (posterior.mean() - label.item()) ** 2, posterior.var()
        assert loss.item() == pytest.approx(entropy.item() + 0.7 * mean_term + 0.3 * variance_term)


def test_without_its_weights_it_is_cross_entropy():
    scores = torch.randn(20, 5, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(20) % 5
    mv = MeanVariance(num_classes=5, mean_weight=0.0, variance_weight=0.0)
    torch.testing.assert_close(mv.loss(scores, labels), F.cross_entropy(scores, labels))


@pytest.mark.parametrize(
    ("probs", "rounded", "floored"),
    [
        ([0.6, 0.4, 0.0], 0, 0),  # mean .4
        ([0.4, 0.6, 0.0], 1, 0),  # mean .6
        ([0.0, 0.1, 0.9], 2, 1),  # mean 1.9: floored, the last class is out of reach
        ([0.0, 0.5, 0.5], 2, 1),  # mean 1.5: halves go up
    ],
)
def test_it_predicts_the_mean_rounded_and_as_published_floored(probs, rounded, floored):
    scores = torch.tensor([probs], dtype=torch.float64).clamp(min=1e-30).log()
    assert MeanVariance(num_classes=3).predict(scores).tolist() == [rounded]
    assert MeanVariance(num_classes=3, variant="as_published").predict(scores).tolist() == [floored]


def test_as_published_differs_in_the_prediction_alone():
    scores = torch.randn(200, 9, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(200) % 9
    corrected, published = MeanVariance(num_classes=9), MeanVariance(num_classes=9, variant="as_published")
    assert torch.equal(published.loss(scores, labels), corrected.loss(scores, labels))
    assert torch.equal(published.log_probs(scores), corrected.log_probs(scores))
    below = corrected.predict(scores) - published.predict(scores)
    assert below.unique().tolist() == [0, 1]
    assert below.double().mean().item() == pytest.approx(0.5, abs=0.1)  # half a class too low on average


def test_the_loss_is_the_value_worked_by_hand():
    scores = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()  # mean 1.1
    method = MeanResidue(num_classes=3, mean_weight=2.0, residue_weight=3.0)
    assert method.loss(scores, torch.tensor([0])).item() == pytest.approx(-math.log(0.2) + 1.1**2)
    expected = -math.log(0.3) + 0.9**2 - 3 * 0.2 * math.log(0.2)  # only the first class is behind the last
    assert method.loss(scores, torch.tensor([2])).item() == pytest.approx(expected)
