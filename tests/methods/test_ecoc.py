import pytest
import torch
from dlordinal.losses import OrdinalECOCDistanceLoss

from onepeak.methods.levels import CodeWords

OUTPUTS = torch.randn(9, 4, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(9) % 5


def test_the_loss_is_that_of_dlordinal():
    expected = OrdinalECOCDistanceLoss(num_classes=5)(OUTPUTS.sigmoid(), LABELS)
    got = CodeWords(num_classes=5).loss(OUTPUTS, LABELS, reduction="sum")
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


def test_the_prediction_is_the_nearest_code_word():
    outputs = torch.tensor([[0.9, 0.2, 0.8]]).logit()
    codes = torch.tensor([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]])
    nearest = (outputs.sigmoid() - codes).square().sum(dim=-1).argmin()
    assert CodeWords(num_classes=4).predict(outputs).item() == nearest == 1


def test_the_scores_are_minus_the_squared_distances_up_to_a_constant():
    ecoc = CodeWords(num_classes=5)
    losses = torch.stack([ecoc.loss(OUTPUTS, torch.full((9,), k), reduction="none") for k in range(5)], dim=-1)
    scores = ecoc.class_scores(OUTPUTS)
    torch.testing.assert_close(scores, losses[:, :1] - losses)


def test_the_posterior_is_never_sharper_than_a_factor_of_e_a_class():
    sharpest = CodeWords(num_classes=3).log_probs(torch.tensor([[1e4, -1e4]]))
    assert (sharpest[0, 1] - sharpest[0, 0]).item() == pytest.approx(1)
