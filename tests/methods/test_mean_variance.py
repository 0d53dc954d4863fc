import numpy as np
import pytest
import torch
from scipy.stats import rv_discrete
from torch.nn import functional as F

from onepeak.methods.mean_variance import MeanVariance


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
