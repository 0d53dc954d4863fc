import pytest
import torch

from onepeak.metrics import OrdinalClassificationIndex, UniformOrdinalClassificationIndex

# one of the two of class 0 is one class too high; all lie on one path
PREDICTED, LABELS = torch.tensor([0, 1, 1, 2]), torch.tensor([0, 0, 1, 2])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (OrdinalClassificationIndex(num_classes=3), 1 - 4 / 5 + 0.75 / 8),
        (OrdinalClassificationIndex(num_classes=3, beta=0.25, gamma=2), 1 - 4 / 5 + 0.25 / 16),
        (OrdinalClassificationIndex(num_classes=3, beta=3), 1 - 3 / 5),  # the path does better without it
        (UniformOrdinalClassificationIndex(num_classes=3, beta=0.25), 1 - 3 / 3.5 + 0.25 * 0.5 / 3),
        # both lines cross at beta = 6/7; the mean is that of the first up to there and of the second from there on
        (UniformOrdinalClassificationIndex(num_classes=3), (6 / 7) * (1 / 7 + 1 / 14) + (1 / 7) * (1 - 2.5 / 3.5)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_worked_by_hand_in_two_batches(metric, expected):
    metric.update(PREDICTED[:2], LABELS[:2])
    metric.update(PREDICTED[2:], LABELS[2:])
    assert metric.compute().item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.bad_input
def test_wrong_settings_are_refused_when_the_metric_is_made():
    with pytest.raises(ValueError, match="`beta` must be a finite number >= 0, got -1"):
        OrdinalClassificationIndex(num_classes=3, beta=-1)
    with pytest.raises(ValueError, match="`gamma` must be a finite number > 0, got 0"):
        OrdinalClassificationIndex(num_classes=3, gamma=0)
    with pytest.raises(ValueError, match="`beta` must be a finite number >= 0, got -1"):
        UniformOrdinalClassificationIndex(num_classes=3, beta=-1)
