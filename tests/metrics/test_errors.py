import pytest
import torch

from onepeak.metrics import (
    Accuracy,
    AccuracyWithin,
    AverageMeanAbsoluteError,
    MaximumMeanAbsoluteError,
    MeanAbsoluteError,
    MeanAbsoluteErrorOfMedian,
    RootMeanSquaredError,
)

PREDICTED, LABELS = torch.tensor([0, 2, 4, 1]), torch.tensor([0, 0, 1, 1])  # distances 0, 2, 3, 0


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (MeanAbsoluteError(num_classes=5), 1.25),
        (RootMeanSquaredError(num_classes=5), 3.25**0.5),
        (Accuracy(num_classes=5), 0.5),
        (AccuracyWithin(num_classes=5), 0.5),
        (AccuracyWithin(num_classes=5, k=2), 0.75),
        (AccuracyWithin(num_classes=5, k=4), 1.0),
        (AverageMeanAbsoluteError(num_classes=5), 1.25),
        (MaximumMeanAbsoluteError(num_classes=5), 1.5),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_worked_by_hand_in_two_batches(metric, expected):
    metric.update(PREDICTED[:3], LABELS[:3])
    metric.update(PREDICTED[3:], LABELS[3:])
    assert metric.compute().item() == expected


def test_the_error_of_the_median_is_that_of_the_posterior_whatever_was_decided():
    # cumulative: 0.4 0.5 0.7 1 (median 1, as half is reached there), 0 0.1 0.3 1 (3), 0.9 ... (0)
    probs = torch.tensor([[0.4, 0.1, 0.2, 0.3], [0.0, 0.1, 0.2, 0.7], [0.9, 0.1, 0.0, 0.0]], dtype=torch.float64)
    metric, labels = MeanAbsoluteErrorOfMedian(num_classes=4), torch.tensor([3, 1, 0])
    metric.update(probs[:2].log(), labels[:2], torch.tensor([3, 1]))
    metric.update(probs[2:].log(), labels[2:])
    assert metric.compute().item() == pytest.approx((2 + 2 + 0) / 3)


def test_far_apart_stays_far_apart_where_the_classes_between_are_absent():
    average, within = AverageMeanAbsoluteError(num_classes=70), AccuracyWithin(num_classes=70, k=1)
    average.update(torch.tensor([0, 69]), torch.tensor([69, 0]))
    within.update(torch.tensor([4, 4, 0]), torch.tensor([0, 0, 4]))
    assert average.compute().item() == 69
    assert within.compute().item() == 0


@pytest.mark.bad_input
def test_a_distance_below_zero_is_refused():
    with pytest.raises(ValueError, match="`k` must be an integer >= 0, got -1"):
        AccuracyWithin(num_classes=5, k=-1)
