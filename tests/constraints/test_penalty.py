import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak import QuadraticPenalty
from onepeak.constraints import quadratic_penalty
from onepeak.errors import InputError
from reference import constraints as reference


@given(st.floats(-1e3, 1e3), st.floats(0, 2))
def test_penalty_is_the_definition(gap, slack):
    expected = torch.tensor([reference.penalty(gap, slack)], dtype=torch.float64)
    torch.testing.assert_close(quadratic_penalty(torch.tensor([gap], dtype=torch.float64), slack), expected)


def test_a_tie_costs_the_square_of_the_slack():
    assert quadratic_penalty(torch.tensor([0.0]), slack=0.1).item() == pytest.approx(0.01)


def test_penalty_derivatives_are_right():
    gaps = torch.tensor([-3.0, -0.3, 0.2, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda g: quadratic_penalty(g, 0.1), gaps)
    assert torch.autograd.gradgradcheck(lambda g: quadratic_penalty(g, 0.1), gaps)


def test_penalty_of_ordered_scores_is_zero_with_zero_gradient():
    scores = torch.tensor([[0.0, 2.0, 1.0]], requires_grad=True)
    cost = QuadraticPenalty(num_classes=3)(scores, torch.tensor([1]))
    cost.sum().backward()
    assert cost.item() == 0
    assert torch.equal(scores.grad, torch.zeros(1, 3))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight": -0.1}, r"`weight` must be a finite number >= 0, got -0\.1\."),
        ({"slack": -1}, r"`slack` must be a finite number >= 0, got -1\."),
        ({"weight": "a"}, r"`weight` must be a finite number >= 0, got 'a'\."),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        QuadraticPenalty(num_classes=3, **settings)
