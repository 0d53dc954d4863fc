import math

import pytest
import torch

from onepeak.methods.quasi_unimodal import QuasiUnimodal


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
