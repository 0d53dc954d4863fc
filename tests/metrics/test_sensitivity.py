import math

import pytest
import torch

from onepeak.metrics import (
    BalancedAccuracy,
    ExtremeSensitivity,
    GeometricMeanSensitivity,
    IndexOfBalancedAccuracy,
    MinimumSensitivity,
)

# sensitivities 3/4, none, 1/2, 1; specificities 1, -, 1, 5/6
PREDICTED, LABELS = torch.tensor([0, 0, 0, 1, 2, 3, 3]), torch.tensor([0, 0, 0, 0, 2, 2, 3])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (BalancedAccuracy(num_classes=4), 0.75),
        (GeometricMeanSensitivity(num_classes=4), 0.375 ** (1 / 3)),
        (MinimumSensitivity(num_classes=4), 0.5),
        (ExtremeSensitivity(num_classes=4), 0.875),
        (ExtremeSensitivity(num_classes=4, average="geometric"), math.sqrt(0.75)),
        (ExtremeSensitivity(num_classes=5), math.nan),
        (IndexOfBalancedAccuracy(num_classes=4, alpha=0), (0.75 + 0.5 + 5 / 6) / 3),
        (IndexOfBalancedAccuracy(num_classes=4, alpha=1), (0.75**2 + 0.5**2 + 7 / 6 * 5 / 6) / 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_worked_by_hand_in_two_batches(metric, expected):
    metric.update(PREDICTED[:5], LABELS[:5])
    metric.update(PREDICTED[5:], LABELS[5:])
    assert metric.compute().item() == pytest.approx(expected, nan_ok=True)


@pytest.mark.bad_input
def test_wrong_settings_are_refused_when_the_metric_is_made():
    with pytest.raises(ValueError, match=r"Unknown `average` 'mean'"):
        ExtremeSensitivity(num_classes=4, average="mean")
    with pytest.raises(ValueError, match=r"`alpha` must be a finite number >= 0 and <= 1, got -0\.5"):
        IndexOfBalancedAccuracy(num_classes=4, alpha=-0.5)
