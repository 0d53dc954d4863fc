import math

import pytest
import torch

import onepeak
from onepeak.methods.neighbours import QuasiUnimodal, entropy

PROBS = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64)


def test_the_losses_are_the_values_worked_by_hand():
    # label 0 wants .2 above .5 above .3: only the first pair is out of order, by .3
    hinges = 2.0 * (0.1 + 0.3)
    got = onepeak.method("co2", 3, weight=2.0, margin=0.1).loss(PROBS.log(), torch.tensor([0]))
    assert got.item() == pytest.approx(-math.log(0.2) + hinges)
    own = -(0.2 * math.log(0.2) + 0.5 * math.log(0.5) + 0.3 * math.log(0.3))
    got = onepeak.method("ho2", 3, weight=2.0, margin=0.1).loss(PROBS.log(), torch.tensor([0]))
    assert got.item() == pytest.approx(own + hinges)


def test_without_hinges_co2_is_cross_entropy():
    scores, labels = torch.randn(6, 4, generator=torch.Generator().manual_seed(0)), torch.arange(6) % 4
    ce = onepeak.method("ce", num_classes=4)
    torch.testing.assert_close(onepeak.method("co2", 4, weight=0.0).loss(scores, labels), ce.loss(scores, labels))


def test_entropy_is_greatest_when_all_are_alike():
    assert entropy(torch.zeros(4)).item() == pytest.approx(math.log(4))
    assert entropy(torch.tensor([1e4, 0.0, 0.0, 0.0])).item() == 0


def loss(probs, label, **settings):
    qul = QuasiUnimodal(num_classes=len(probs), **settings)
    return qul.loss(torch.tensor([probs], dtype=torch.float64).log(), torch.tensor([label])).item()


def test_the_loss_is_the_value_worked_by_hand():
    # label 1: .1 below .3 by more than .05; .35 above .3; .25 below .35
    expected = -math.log(0.3) + 2 * (0.05 + 0.35 - 0.3)
    assert loss([0.1, 0.3, 0.35, 0.25], 1, weight=2.0, margin=0.05) == pytest.approx(expected)


def test_far_classes_may_stand_in_any_order():
    assert loss([0.5, 0.2, 0.02, 0.18, 0.1], 0, margin=0.0) == pytest.approx(-math.log(0.5))
    assert loss([0.5, 0.2, 0.02, 0.08, 0.2], 0, margin=0.0) == pytest.approx(-math.log(0.5))


def test_at_the_last_class_there_is_no_neighbour_above():
    assert loss([0.1, 0.2, 0.7], 2, margin=0.0) == pytest.approx(-math.log(0.7))
