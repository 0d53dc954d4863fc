import pytest
import torch

from onepeak.methods.expected_error import ExpectedError


def test_the_loss_is_the_value_worked_by_hand():
    scores = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()
    assert ExpectedError(num_classes=3).loss(scores, torch.tensor([2])).item() == pytest.approx(0.9**2)


def test_two_peaks_with_the_right_mean_cost_nothing():
    scores = torch.tensor([[0.5, 0.0, 0.5]]).log().clamp(min=-1e4)
    se = ExpectedError(num_classes=3)
    assert se.loss(scores, torch.tensor([1])).item() == pytest.approx(0, abs=1e-12)
    assert se.predict(scores).tolist() == [1]
