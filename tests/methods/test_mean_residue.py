import math

import pytest
import torch

from onepeak.methods.mean_residue import MeanResidue


def test_the_loss_is_the_value_worked_by_hand():
    scores = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()  # mean 1.1
    method = MeanResidue(num_classes=3, mean_weight=2.0, residue_weight=3.0)
    assert method.loss(scores, torch.tensor([0])).item() == pytest.approx(-math.log(0.2) + 1.1**2)
    expected = -math.log(0.3) + 0.9**2 - 3 * 0.2 * math.log(0.2)  # only the first class is behind the last
    assert method.loss(scores, torch.tensor([2])).item() == pytest.approx(expected)
