import math

import pytest
import torch

from onepeak.methods.cost_sensitive import CostSensitive

SCORES = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()


def test_the_loss_is_the_value_worked_by_hand():
    got = CostSensitive(num_classes=3, weight=4.0).loss(SCORES, torch.tensor([0]))
    assert got.item() == pytest.approx(-math.log(0.2) + 4 * (0.5 / 4 + 0.3))
    linear = CostSensitive(num_classes=3, weight=4.0, power=1.0).loss(SCORES, torch.tensor([1]))
    assert linear.item() == pytest.approx(-math.log(0.5) + 4 * (0.2 / 2 + 0.3 / 2))
