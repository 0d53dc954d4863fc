import pytest
import torch

import onepeak
from onepeak.constraints import ELBLoss, LogBarrier, PenaltyLoss, QuadraticPenalty
from onepeak.errors import InputError
from onepeak.methods.constrained import Constrained
from onepeak.methods.counts import Poisson
from onepeak.methods.cross_entropy import CrossEntropy


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_it_is_the_loss_to_drop_in(reduction):
    scores = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(20) % 6
    for name, drop_in in (("elb", ELBLoss), ("pn", PenaltyLoss)):
        got = onepeak.method(name, num_classes=6).loss(scores, labels, reduction=reduction)
        torch.testing.assert_close(got, drop_in(num_classes=6, reduction=reduction)(scores, labels))


def test_two_constraints_can_be_put_on_one_method():
    scores = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(20) % 6
    inner = Constrained(CrossEntropy(num_classes=6), LogBarrier(num_classes=6))
    outer = Constrained(inner, QuadraticPenalty(num_classes=6, weight=0.5))
    expected = inner.loss(scores, labels) + QuadraticPenalty(num_classes=6, weight=0.5)(scores, labels).mean()
    torch.testing.assert_close(outer.loss(scores, labels), expected)
    outer.tighten()
    assert inner.constraint.t.item() == pytest.approx(1.001)


@pytest.mark.parametrize("name", ["elb", "pn"])
def test_training_under_a_constraint_puts_the_scores_in_order(name):
    scores = torch.randn(30, 8, generator=torch.Generator().manual_seed(0)).requires_grad_()
    labels = torch.arange(30) % 8
    weight = {"weight": 1.0} if name == "pn" else {}
    method = onepeak.method(name, num_classes=8, **weight)
    optimizer = torch.optim.SGD([scores], lr=2.0)
    assert (onepeak.order_gaps(scores.detach(), labels) < 0).double().mean() < 0.7
    for _ in range(200):
        optimizer.zero_grad()
        method.loss(scores, labels).backward()
        optimizer.step()
    assert (onepeak.order_gaps(scores.detach(), labels) < 0).all()


def test_a_base_on_another_device_can_be_constrained():
    po = Poisson(num_classes=4).to("meta")
    assert Constrained(po, LogBarrier(num_classes=4)).num_outputs == 4


@pytest.mark.bad_input
def test_a_constraint_for_another_number_of_classes_is_refused():
    with pytest.raises(InputError, match=r"`constraint` must have the 5 classes of its base, got 4\."):
        Constrained(CrossEntropy(num_classes=5), LogBarrier(num_classes=4))


@pytest.mark.bad_input
def test_what_is_no_method_or_no_constraint_is_refused():
    with pytest.raises(InputError, match=r"`base` must be a method, got str: see onepeak.method\(name, ...\)\."):
        Constrained("ce", LogBarrier(num_classes=4))
    with pytest.raises(InputError, match=r"`constraint` must be a LogBarrier or the like, got str\."):
        Constrained(CrossEntropy(num_classes=4), "elb")


SCORES = torch.tensor([[0.0, 1.0, 0.5]], dtype=torch.float64)


def test_it_is_sord_under_a_barrier_that_stays_as_it_is():
    orcu, composed = onepeak.method("orcu", num_classes=3, t=4.0), onepeak.method("sord+elb", num_classes=3, t=4.0)
    assert orcu.loss(SCORES, torch.tensor([2])) == composed.loss(SCORES, torch.tensor([2]))
    orcu.tighten()
    assert orcu.constraint.t.item() == 4.0
