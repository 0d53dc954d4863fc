import pytest
import torch

from onepeak.methods.kappa import WeightedKappa
from reference.distance import weighted_kappa

SCORES = 2 * torch.randn(12, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(12) % 5


@pytest.mark.parametrize(("penalty", "power"), [("linear", 1), ("quadratic", 2)])
def test_the_loss_agrees_with_counting(penalty, power):
    wk = WeightedKappa(num_classes=5, penalty=penalty)
    expected = weighted_kappa(SCORES.tolist(), LABELS.tolist(), power=power)
    assert wk.loss(SCORES, LABELS).item() == pytest.approx(expected, rel=1e-8)
    weights = torch.linspace(0.1, 3, 12, dtype=torch.float64)
    expected = weighted_kappa(SCORES.tolist(), LABELS.tolist(), power=power, weights=weights.tolist())
    assert wk.loss(SCORES, LABELS, sample_weight=weights).item() == pytest.approx(expected, rel=1e-8)


def test_a_batch_of_one_label_always_predicted_costs_nothing():
    scores = 1e3 * torch.nn.functional.one_hot(torch.tensor([2, 2, 2]), 5).float()
    assert WeightedKappa(num_classes=5).loss(scores, torch.tensor([2, 2, 2])) == 0
