import math

import pytest
import torch

import onepeak
from onepeak.methods.neighbours import UnimodalConcentrated, WassersteinUnimodal, entropy


def test_entropy_is_greatest_when_all_are_alike():
    assert entropy(torch.zeros(4)).item() == pytest.approx(math.log(4))
    assert entropy(torch.tensor([1e4, 0.0, 0.0, 0.0])).item() == 0


def test_the_gradient_asks_for_order_where_cross_entropy_is_content():
    scores = torch.tensor([[5.0, -2.0, 1.0, -2.0]], requires_grad=True)  # a second bump
    ce, wu = onepeak.method("ce", num_classes=4), WassersteinUnimodal(num_classes=4, weight=10.0)
    (plain,) = torch.autograd.grad(ce.loss(scores, torch.tensor([0])), scores)
    (ordered,) = torch.autograd.grad(wu.loss(scores, torch.tensor([0])), scores)
    assert ordered[0, 2] > plain[0, 2] > 0  # the bump goes down faster


def test_a_sure_and_right_posterior_costs_least_and_that_is_finite():
    uc = UnimodalConcentrated(num_classes=4)
    sure = torch.tensor([[0.0, 1e4, 0.0, 0.0]])
    assert uc.loss(sure, torch.tensor([1])).item() == pytest.approx(0.5 * math.log(1 / 12))
    scores = torch.randn(200, 4, generator=torch.Generator().manual_seed(0))
    assert (uc.loss(scores, torch.ones(200).long(), reduction="none") > 0.5 * math.log(1 / 12)).all()


def test_the_best_width_is_that_of_the_error():
    """With the mean two classes off, a variance of 4 is best."""
    spreads = torch.linspace(0.5, 40, 80)
    centred = -((torch.arange(41.0) - 22) ** 2) / (2 * spreads.unsqueeze(-1))
    losses = UnimodalConcentrated(num_classes=41, weight=0.0).loss(centred, torch.full((80,), 20), reduction="none")
    assert spreads[losses.argmin()].item() == pytest.approx(4, abs=0.5)
