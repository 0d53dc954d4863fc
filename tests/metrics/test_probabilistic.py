import pytest
import torch

from onepeak.metrics import (
    EarthMoverDistance,
    ExpectedCalibrationError,
    NegativeLogLikelihood,
    RankedProbabilityScore,
)

LOG_PROBS = torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]], dtype=torch.float64).log()
LABELS = torch.tensor([0, 0])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (NegativeLogLikelihood(num_classes=3), 2 * 0.6931471805599453),
        (RankedProbabilityScore(num_classes=3), (0.3125 + 1.015625) / 2),
        (EarthMoverDistance(num_classes=3), (0.75 + 1.375) / 2),
        (ExpectedCalibrationError(num_classes=3), 0.0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_worked_by_hand_in_two_batches(metric, expected):
    for i in range(2):
        metric.update(LOG_PROBS[i : i + 1], LABELS[i : i + 1])
    assert metric.compute().item() == pytest.approx(expected, abs=1e-12)


def test_more_bins_see_what_few_bins_average_out():
    log_probs = torch.tensor([[0.9, 0.1], [0.6, 0.4]], dtype=torch.float64).log()
    labels = torch.tensor([1, 0])  # the surer one is wrong
    for num_bins, expected in ((1, 0.25), (10, (0.9 + 0.4) / 2)):
        metric = ExpectedCalibrationError(num_classes=2, num_bins=num_bins)
        metric.update(log_probs, labels)
        assert metric.compute().item() == pytest.approx(expected)


def test_calibration_is_about_the_mode_whatever_was_decided():
    metric = ExpectedCalibrationError(num_classes=3)
    metric.update(LOG_PROBS, LABELS, torch.tensor([2, 2]))
    assert metric.compute().item() == pytest.approx(0.0)


@pytest.mark.bad_input
def test_there_is_at_least_one_bin():
    with pytest.raises(ValueError, match="`num_bins` must be an integer >= 1, got 0"):
        ExpectedCalibrationError(num_classes=2, num_bins=0)
