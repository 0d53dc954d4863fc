import pytest
import torch

from onepeak.metrics import KendallTau, SpearmanCorrelation


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (KendallTau(num_classes=9), 0.8),
        (SpearmanCorrelation(num_classes=9), 3.75 / 4.5),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_worked_by_hand_with_classes_that_do_not_occur(metric, expected):
    metric.update(torch.tensor([0, 1]), torch.tensor([0, 1]))
    metric.update(torch.tensor([2, 2]), torch.tensor([1, 2]))
    assert metric.compute().item() == pytest.approx(expected)
