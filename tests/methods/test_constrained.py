import math

import pytest
import torch
from torch.nn import functional as F

import onepeak
import reference.constraints as reference
from onepeak.constraints import ELBLoss, LogBarrier, PenaltyLoss, QuadraticPenalty
from onepeak.errors import InputError
from onepeak.methods.constrained import Constrained
from onepeak.methods.cross_entropy import CrossEntropy
from onepeak.methods.mean_variance import MeanVariance
from onepeak.methods.poisson import Poisson


def test_a_barrier_worked_by_hand():
    # label 1 of scores 0, 1, 3: the first pair is in order by 1, which costs 0 at t = 1; the second out of it by 2,
    # which costs 2 + 1
    scores = torch.tensor([[0.0, 1.0, 3.0]])
    entropy = math.log(1 + math.e + math.e**3) - 1
    elb = Constrained(CrossEntropy(num_classes=3), LogBarrier(num_classes=3, t=1.0))
    assert elb.loss(scores, torch.tensor([1])).item() == pytest.approx(entropy + 3)


def test_a_penalty_worked_by_hand():
    scores = torch.tensor([[0.0, 1.0, 3.0]])
    entropy = math.log(1 + math.e + math.e**3) - 1
    pn = Constrained(CrossEntropy(num_classes=3), QuadraticPenalty(num_classes=3, weight=0.5, slack=0.1))
    assert pn.loss(scores, torch.tensor([1])).item() == pytest.approx(entropy + 0.5 * 2.1**2)


def test_any_t_agrees_with_the_slow_reference():
    for num_classes in [2, 5, 70]:
        for t in [0.7, 1.0, 4.5]:
            scores = torch.randn(12, num_classes, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
            labels = torch.arange(12) % num_classes
            elb = onepeak.method("elb", num_classes=num_classes, t=t)
            expected = reference.elb(scores.tolist(), labels.tolist(), elb.constraint.t.item())
            assert elb.loss(scores, labels, reduction="none").tolist() == pytest.approx(expected.tolist())
            assert elb.loss(scores, labels).item() == pytest.approx(expected.mean())


@pytest.mark.parametrize("num_classes", [2, 5, 70])
@pytest.mark.parametrize(("weight", "slack"), [(1.0, 0.0), (0.3, 0.5)])
def test_any_penalty_agrees_with_the_slow_reference(num_classes, weight, slack):
    scores = torch.randn(12, num_classes, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    labels = torch.arange(12) % num_classes
    pn = onepeak.method("pn", num_classes=num_classes, weight=weight, slack=slack)
    expected = reference.pn(scores.tolist(), labels.tolist(), weight, slack)
    assert pn.loss(scores, labels, reduction="none").tolist() == pytest.approx(expected.tolist())
    assert pn.loss(scores, labels).item() == pytest.approx(expected.mean())


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_it_is_the_loss_to_drop_in(reduction):
    scores = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(20) % 6
    for name, drop_in in (("elb", ELBLoss), ("pn", PenaltyLoss)):
        got = onepeak.method(name, num_classes=6).loss(scores, labels, reduction=reduction)
        torch.testing.assert_close(got, drop_in(num_classes=6, reduction=reduction)(scores, labels))


def test_the_constraint_adds_its_cost_to_the_loss_of_the_base_and_nothing_else():
    outputs = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(20) % 6
    base, constraint = MeanVariance(num_classes=6), LogBarrier(num_classes=6)
    both = Constrained(base, constraint)
    torch.testing.assert_close(
        both.loss(outputs, labels, reduction="none"),
        base.loss(outputs, labels, reduction="none") + constraint(outputs, labels),
    )
    assert torch.equal(both.log_probs(outputs), base.log_probs(outputs))
    assert torch.equal(both.predict(outputs), base.predict(outputs))
    assert torch.equal(both.class_scores(outputs), base.class_scores(outputs))
    assert both.decision == "mean"


def test_two_constraints_can_be_put_on_one_method():
    scores = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(20) % 6
    inner = Constrained(CrossEntropy(num_classes=6), LogBarrier(num_classes=6))
    outer = Constrained(inner, QuadraticPenalty(num_classes=6, weight=0.5))
    expected = inner.loss(scores, labels) + QuadraticPenalty(num_classes=6, weight=0.5)(scores, labels).mean()
    torch.testing.assert_close(outer.loss(scores, labels), expected)
    outer.tighten()
    assert inner.constraint.t.item() == pytest.approx(1.001)


def test_a_class_weight_weighs_the_constraint_too():
    scores = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(20) % 3
    elb = onepeak.method("elb", num_classes=3, class_weight=torch.tensor([0.0, 0.0, 2.0]))
    plain = onepeak.method("elb", num_classes=3)
    torch.testing.assert_close(elb.loss(scores, labels), plain.loss(scores[2::3], labels[2::3]))


def test_the_saved_t_is_restored():
    elb = onepeak.method("elb", num_classes=4, growth=1.5)
    for _ in range(3):
        elb.tighten()
    fresh = onepeak.method("elb", num_classes=4, growth=1.5)
    fresh.load_state_dict(elb.state_dict())
    assert fresh.constraint.t.item() == 1.5**3


def test_t_stops_at_its_greatest():
    elb = onepeak.method("elb", num_classes=4, t=1.0, growth=1.5, t_max=2.0)
    seen = []
    for _ in range(4):
        seen.append(elb.constraint.t.item())
        elb.tighten()
    assert seen == [1.0, 1.5, 2.0, 2.0]


def test_the_paper_ends_at_a_t_of_e():
    elb = onepeak.method("elb", num_classes=4)
    for _ in range(1000):
        elb.tighten()
    assert elb.constraint.t.item() == pytest.approx(2.717, abs=1e-3)


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


def test_cross_entropy_alone_does_not():
    scores = torch.randn(30, 8, generator=torch.Generator().manual_seed(0)).requires_grad_()
    labels = torch.arange(30) % 8
    optimizer = torch.optim.SGD([scores], lr=2.0)
    for _ in range(200):
        optimizer.zero_grad()
        F.cross_entropy(scores, labels).backward()
        optimizer.step()
    assert (onepeak.order_gaps(scores.detach(), labels) < 0).double().mean() < 0.9


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
