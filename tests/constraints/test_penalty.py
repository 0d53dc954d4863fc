import torch
from hypothesis import given
from hypothesis import strategies as st

from onepeak import QuadraticPenalty
from onepeak.constraints import Hinge, quadratic_penalty
from reference import constraints as reference


@given(st.floats(-1e3, 1e3), st.floats(0, 2))
def test_penalty_is_the_definition(gap, slack):
    expected = torch.tensor([reference.penalty(gap, slack)], dtype=torch.float64)
    torch.testing.assert_close(quadratic_penalty(torch.tensor([gap], dtype=torch.float64), slack), expected)


def test_penalty_of_ordered_scores_is_zero_with_zero_gradient():
    scores = torch.tensor([[0.0, 2.0, 1.0]], requires_grad=True)
    cost = QuadraticPenalty(num_classes=3)(scores, torch.tensor([1]))
    cost.sum().backward()
    assert cost.item() == 0
    assert torch.equal(scores.grad, torch.zeros(1, 3))


def test_a_pair_in_order_by_the_margin_has_no_gradient_and_one_that_is_not_a_constant_one():
    scores = torch.tensor([[0.0, 5.0, 9.0, 8.95]], requires_grad=True)
    Hinge(num_classes=4, weight=2.0, margin=0.1)(scores, torch.tensor([2])).sum().backward()
    assert scores.grad.tolist() == [[0.0, 0.0, -2.0, 2.0]]
