import pickle

import pytest
import torch

from onepeak.metrics import QuadraticWeightedKappa, WeightedKappa

ONLY_TWO_AS_ONE = torch.tensor([[0.0, 0, 0], [0, 0, 9.0], [0, 0, 0]])


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (QuadraticWeightedKappa(num_classes=9), 0.8),
        (WeightedKappa(num_classes=9, weighting="quadratic"), 0.8),
        (WeightedKappa(num_classes=9, weighting="linear"), 1 - 4 / 14),
        (WeightedKappa(num_classes=9, weighting="none"), 1 - 4 / 11),
        (WeightedKappa(num_classes=9, weighting=3), 1 - 4 / 32),
        (WeightedKappa(num_classes=3, weighting=ONLY_TWO_AS_ONE), 0.0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_worked_by_hand_in_two_batches(metric, expected):
    metric.update(torch.tensor([0, 1]), torch.tensor([0, 1]))
    metric.update(torch.tensor([2, 2]), torch.tensor([1, 2]))
    assert metric.compute().item() == pytest.approx(expected)


def test_a_table_of_costs_goes_where_the_metric_goes():
    metric = pickle.loads(pickle.dumps(WeightedKappa(num_classes=3, weighting=ONLY_TWO_AS_ONE))).to("meta")
    metric.update(torch.zeros(2, dtype=torch.int64, device="meta"), torch.zeros(2, dtype=torch.int64, device="meta"))
    assert metric.compute().device.type == "meta"


@pytest.mark.bad_input
def test_a_wrong_weighting_is_refused_when_the_metric_is_made():
    with pytest.raises(ValueError, match=r"Unknown `weighting` 'quadratc'\. Did you mean 'quadratic'\?"):
        WeightedKappa(num_classes=3, weighting="quadratc")
    with pytest.raises(ValueError, match=r"`weighting` must have shape \(4, 4\), got \(3, 3\)"):
        WeightedKappa(num_classes=4, weighting=ONLY_TWO_AS_ONE)
