import math

import pytest
import torch

import onepeak
from onepeak.methods.neighbours import WassersteinUnimodal


def loss(probs, label, **settings):
    wu = WassersteinUnimodal(num_classes=len(probs), **settings)
    return wu.loss(torch.tensor([probs], dtype=torch.float64).log(), torch.tensor([label])).item()


def test_the_loss_is_the_value_worked_by_hand():
    # nearest with its peak at 0: .35 .35 .3; levels .2 .7 against .35 .7
    assert loss([0.2, 0.5, 0.3], 0, weight=2.0) == pytest.approx(-math.log(0.2) + 2 * 0.15)


def test_a_posterior_with_its_peak_at_the_label_costs_cross_entropy_alone():
    assert loss([0.1, 0.6, 0.2, 0.1], 1, weight=100.0) == pytest.approx(-math.log(0.6))


def test_the_gradient_asks_for_order_where_cross_entropy_is_content():
    scores = torch.tensor([[5.0, -2.0, 1.0, -2.0]], requires_grad=True)  # a second bump
    ce, wu = onepeak.method("ce", num_classes=4), WassersteinUnimodal(num_classes=4, weight=10.0)
    (plain,) = torch.autograd.grad(ce.loss(scores, torch.tensor([0])), scores)
    (ordered,) = torch.autograd.grad(wu.loss(scores, torch.tensor([0])), scores)
    assert ordered[0, 2] > plain[0, 2] > 0  # the bump goes down faster
