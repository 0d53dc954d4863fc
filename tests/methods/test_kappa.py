import pytest
import torch
from sklearn.metrics import cohen_kappa_score

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


@pytest.mark.parametrize("penalty", ["linear", "quadratic"])
def test_the_loss_is_that_of_dlordinal(penalty):
    from dlordinal.losses import WKLoss

    theirs = WKLoss(num_classes=5, penalization_type=penalty, use_logits=True)(SCORES.float(), LABELS)
    got = WeightedKappa(num_classes=5, penalty=penalty).loss(SCORES.float(), LABELS)
    torch.testing.assert_close(got, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("penalty", ["linear", "quadratic"])
def test_sure_predictions_give_one_minus_the_kappa_of_the_decisions(penalty):
    predicted = torch.tensor([0, 1, 1, 3, 4, 0, 2, 4, 4, 3, 1, 2])
    scores = 1e3 * torch.nn.functional.one_hot(predicted, 5).double()
    expected = 1 - cohen_kappa_score(LABELS.numpy(), predicted.numpy(), labels=range(5), weights=penalty)
    got = WeightedKappa(num_classes=5, penalty=penalty).loss(scores, LABELS)
    assert got.item() == pytest.approx(expected, rel=1e-6)


def test_a_batch_of_one_label_always_predicted_costs_nothing():
    scores = 1e3 * torch.nn.functional.one_hot(torch.tensor([2, 2, 2]), 5).float()
    assert WeightedKappa(num_classes=5).loss(scores, torch.tensor([2, 2, 2])) == 0
