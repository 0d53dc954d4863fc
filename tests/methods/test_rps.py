import math

import pytest
import torch
from dlordinal.losses import MCELoss

import onepeak
from onepeak.methods.rps import Brier, RankedProbability
from onepeak.metrics.functional import ranked_probability_score

SCORES = torch.randn(9, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(9) % 5


def test_the_loss_is_the_value_worked_by_hand():
    probs = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64)
    # levels .2, .7 against steps 0 0, 0 1, 1 1 for the labels 2, 1, 0
    for label, expected in ((2, 0.2**2 + 0.7**2), (1, 0.2**2 + 0.3**2), (0, 0.8**2 + 0.3**2)):
        got = RankedProbability(num_classes=3).loss(probs.log(), torch.tensor([label]))
        assert got.item() == pytest.approx(expected)


def test_the_loss_is_the_metric_of_the_same_name():
    rps = RankedProbability(num_classes=5)
    expected = ranked_probability_score(rps.log_probs(SCORES), LABELS)
    torch.testing.assert_close(rps.loss(SCORES, LABELS, reduction="none"), expected)


def test_the_loss_is_the_squared_earth_movers_distance_of_dlordinal():
    from dlordinal.losses import EMDLoss

    expected = EMDLoss(num_classes=5)(SCORES, LABELS)
    torch.testing.assert_close(RankedProbability(num_classes=5).loss(SCORES, LABELS), expected, rtol=1e-5, atol=1e-5)


def test_two_classes_give_the_brier_score_of_one():
    loss = RankedProbability(num_classes=2).loss(torch.tensor([[0.0, math.log(3)]]), torch.tensor([1]))
    assert loss.item() == pytest.approx(0.25**2)


def test_three_tenths_of_the_score_and_the_papers_loss_go_together():
    together = onepeak.method("rps+elb", num_classes=5, weight=0.3, cross_entropy_weight=1.0, t=2.0)
    rps, elb = onepeak.method("rps", num_classes=5), onepeak.method("elb", num_classes=5, t=2.0)
    torch.testing.assert_close(together.loss(SCORES, LABELS), 0.3 * rps.loss(SCORES, LABELS) + elb.loss(SCORES, LABELS))


def test_the_label_is_the_median_or_on_demand_the_mode():
    scores = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
    assert onepeak.method("smooth-rps+elb", num_classes=4).decision == "median"
    assert onepeak.method("smooth-rps+elb", num_classes=4, decision="mode").decision == "mode"
    assert RankedProbability(num_classes=4).predict(scores).item() == 1
    assert RankedProbability(num_classes=4, decision="mode").predict(scores).item() == 0


def test_mce_is_the_value_worked_by_hand():
    scores = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()
    got = Brier(num_classes=3).loss(scores, torch.tensor([0])).item()
    assert got == pytest.approx((0.8**2 + 0.5**2 + 0.3**2) / 3)


def test_the_loss_is_that_of_dlordinal():
    scores, labels = torch.randn(9, 5), torch.arange(9) % 5
    torch.testing.assert_close(Brier(5).loss(scores, labels), MCELoss(5, use_logits=True)(scores, labels))
