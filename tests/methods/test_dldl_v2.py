import math

import pytest
import torch

import onepeak
from onepeak.methods.dldl_v2 import DistributionAndMean

SCORES = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(6) % 4


def test_the_loss_is_the_value_worked_by_hand():
    weights = [1.0, math.exp(-0.5)]
    target = [weight / sum(weights) for weight in weights]
    divergence = sum(q * math.log(q / 0.5) for q in target)
    got = DistributionAndMean(num_classes=2, mean_weight=3.0).loss(torch.zeros(1, 2), torch.tensor([0]))
    assert got.item() == pytest.approx(divergence + 3.0 * 0.5, rel=1e-6)


def test_without_the_mean_it_is_label_distribution_learning():
    ld = onepeak.method("ld", num_classes=4, variance=2.0)
    alone = DistributionAndMean(num_classes=4, variance=2.0, mean_weight=0.0)
    torch.testing.assert_close(alone.loss(SCORES, LABELS), ld.loss(SCORES, LABELS))
