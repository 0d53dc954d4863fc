import math

import pytest
import torch

from onepeak.methods.slace import Slace

SCORES = torch.randn(9, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(9) % 5


def test_the_loss_is_the_value_worked_by_hand():
    scores = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64).log()
    first, second, third = (math.exp(-distance) for distance in (0, 1, 2))
    expected = -(first * math.log(0.2) + second * math.log(0.7) + third * math.log(1.0)) / (first + second + third)
    assert Slace(num_classes=3).loss(scores, torch.tensor([0])).item() == pytest.approx(expected)


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 3.0])
def test_the_loss_is_that_of_dlordinal(sharpness):
    from dlordinal.losses import SLACELoss

    theirs = SLACELoss(alpha=sharpness, num_classes=5)(SCORES, LABELS)
    got = Slace(num_classes=5, sharpness=sharpness).loss(SCORES, LABELS)
    torch.testing.assert_close(got, theirs, rtol=1e-5, atol=1e-5)


def test_the_logarithm_has_no_floor_as_dlordinals_has():
    from dlordinal.losses import SLACELoss

    scores, labels = torch.tensor([[0.0, 0.0, 60.0]]), torch.tensor([0])
    theirs = SLACELoss(alpha=1.0, num_classes=3)(scores, labels)
    ours = Slace(num_classes=3).loss(scores, labels)
    floor, share = math.log(1e-9), 1 / (1 + math.exp(-1) + math.exp(-2))
    assert theirs.item() == pytest.approx(-share * (1 + math.exp(-1)) * floor, rel=1e-3)
    assert ours.item() == pytest.approx(share * (60 + math.exp(-1) * (60 - math.log(2))), rel=1e-5)


def test_mass_that_moves_towards_the_label_costs_less():
    far = torch.tensor([[0.4, 0.1, 0.1, 0.4]]).log()
    near = torch.tensor([[0.4, 0.1, 0.4, 0.1]]).log()
    slace = Slace(num_classes=4)
    assert slace.loss(near, torch.tensor([0])) < slace.loss(far, torch.tensor([0]))
