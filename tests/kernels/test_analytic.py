from functools import partial

import pytest
import torch
from torch.nn import functional as F

import onepeak
from onepeak import ELBLoss, LogBarrier, PenaltyLoss, QuadraticPenalty
from onepeak.constraints.cross_entropy import ordered_cross_entropy
from onepeak.constraints.gaps import order_cost
from onepeak.kernels import analytic

CONSTRAINTS = {"barrier": lambda c: LogBarrier(c, t=1.7), "penalty": lambda c: QuadraticPenalty(c, 0.3, 0.2)}


def value_and_gradient(function, scores, labels, upstream):
    leaf = scores.clone().requires_grad_()
    value = function(leaf, labels)
    (gradient,) = torch.autograd.grad(value, leaf, upstream)
    return value.detach(), gradient


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("piece", [7, 1 << 17])
@pytest.mark.parametrize("num_classes", [2, 10, 600])
def test_written_out_gradients_are_autograds_whatever_the_pieces(monkeypatch, name, piece, num_classes):
    monkeypatch.setattr(analytic, "PIECE", piece)
    constraint = CONSTRAINTS[name](num_classes)
    cost = partial(order_cost, constraint)
    scores, labels = torch.randn(13, num_classes, dtype=torch.float64), torch.randint(num_classes, (13,))

    upstream = torch.tensor(-0.7, dtype=torch.float64)
    ours = value_and_gradient(lambda s, y: ordered_cross_entropy(s, y, constraint), scores, labels, upstream)
    theirs = value_and_gradient(lambda s, y: F.cross_entropy(s, y) + cost(s, y).mean(), scores, labels, upstream)
    torch.testing.assert_close(ours, theirs)


def test_ties_take_the_slope_of_the_barrier_and_of_the_penalty():
    scores, labels = torch.zeros(1, 3), torch.tensor([1])
    for constraint, slope in ((LogBarrier(3, t=2.0), 2.0), (QuadraticPenalty(3, 1.0, 0.5), 1.0)):
        _, gradient = value_and_gradient(constraint, scores, labels, torch.ones(1))
        torch.testing.assert_close(gradient, torch.tensor([[slope, -2 * slope, slope]]))


def test_another_default_device_changes_nothing_now_or_later():
    scores, labels = torch.randn(3, 17), torch.tensor([0, 1, 16])
    loss = PenaltyLoss(17)
    analytic._sides.cache_clear()
    with torch.device("meta"):
        found = loss(scores, labels)
    torch.testing.assert_close(loss(scores, labels), found)


def test_scores_are_left_as_they_came():
    scores, labels = torch.randn(8, 5, requires_grad=True), torch.randint(5, (8,))
    before = scores.detach().clone()
    ELBLoss(5)(scores, labels).backward()
    assert torch.equal(scores.detach(), before)


@pytest.mark.parametrize("name", ["cdw-ce", "oll"])
@pytest.mark.parametrize("piece", [7, 1 << 17])
def test_the_mean_over_samples_and_its_gradient_are_those_of_the_definition(monkeypatch, name, piece):
    monkeypatch.setattr(analytic, "PIECE", piece)
    method = onepeak.method(name, num_classes=5)
    scores, labels = 3 * torch.randn(13, 5, dtype=torch.float64), torch.randint(5, (13,))
    for factor in (1, 1e4):  # surer than numbers relative to the highest can tell
        upstream = torch.tensor(-0.7, dtype=torch.float64)
        ours = value_and_gradient(method.loss, factor * scores, labels, upstream)
        theirs = value_and_gradient(lambda s, y: method.sample_losses(s, y).mean(), factor * scores, labels, upstream)
        torch.testing.assert_close(ours, theirs)
