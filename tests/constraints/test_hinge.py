import pytest
import torch

from onepeak.constraints import Hinge
from onepeak.errors import InputError
from reference import constraints as reference

SCORES = torch.randn(12, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(12) % 6


def test_the_cost_is_the_hinge_of_every_gap():
    expected = [
        0.7 * sum(max(0.0, gap + 0.2) for gap in reference.gaps(row, label))
        for row, label in zip(SCORES.tolist(), LABELS.tolist(), strict=True)
    ]
    got = Hinge(num_classes=6, weight=0.7, margin=0.2)(SCORES, LABELS)
    torch.testing.assert_close(got, torch.tensor(expected, dtype=torch.float64))


def test_a_pair_in_order_by_the_margin_has_no_gradient_and_one_that_is_not_a_constant_one():
    scores = torch.tensor([[0.0, 5.0, 9.0, 8.95]], requires_grad=True)
    Hinge(num_classes=4, weight=2.0, margin=0.1)(scores, torch.tensor([2])).sum().backward()
    assert scores.grad.tolist() == [[0.0, 0.0, -2.0, 2.0]]


@pytest.mark.bad_input
def test_settings_out_of_range_are_refused():
    with pytest.raises(InputError, match=r"`weight` must be a finite number >= 0, got -1\.0\."):
        Hinge(num_classes=3, weight=-1.0)
    with pytest.raises(InputError, match=r"`margin` must be a finite number >= 0, got -1\.0\."):
        Hinge(num_classes=3, margin=-1.0)


def test_it_says_its_settings():
    assert repr(Hinge(num_classes=3)) == "Hinge(num_classes=3, weight=1, margin=0.1)"
