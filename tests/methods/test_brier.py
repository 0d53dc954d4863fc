import pytest
import torch
from dlordinal.losses import MCELoss

from onepeak.methods.brier import Brier


def test_the_loss_is_the_value_worked_by_hand():
    scores = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()
    got = Brier(num_classes=3).loss(scores, torch.tensor([0])).item()
    assert got == pytest.approx((0.8**2 + 0.5**2 + 0.3**2) / 3)


def test_the_loss_is_that_of_dlordinal():
    scores, labels = torch.randn(9, 5), torch.arange(9) % 5
    torch.testing.assert_close(Brier(5).loss(scores, labels), MCELoss(5, use_logits=True)(scores, labels))
