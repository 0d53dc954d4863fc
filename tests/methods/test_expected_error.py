import pytest
import torch

from onepeak.methods.class_distance import ExpectedAbsoluteError, ExpectedError
from onepeak.metrics.functional import earth_mover_distance


def test_the_loss_is_the_value_worked_by_hand():
    scores = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()
    assert ExpectedError(num_classes=3).loss(scores, torch.tensor([2])).item() == pytest.approx(0.9**2)


def test_the_absolute_error_is_the_value_worked_by_hand_and_the_metric_of_the_same_meaning():
    scores = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()
    loss = ExpectedAbsoluteError(num_classes=3).loss(scores, torch.tensor([0]))
    assert loss.item() == pytest.approx(0.5 + 2 * 0.3)
    assert loss.item() == pytest.approx(earth_mover_distance(scores, torch.tensor([0])).item())


def test_two_peaks_with_the_right_mean_cost_nothing():
    scores = torch.tensor([[0.5, 0.0, 0.5]]).log().clamp(min=-1e4)
    se = ExpectedError(num_classes=3)
    assert se.loss(scores, torch.tensor([1])).item() == pytest.approx(0, abs=1e-12)
    assert se.predict(scores).tolist() == [1]
