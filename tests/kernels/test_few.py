import math

import pytest
import torch
from torch.nn import functional as F

from onepeak import ELBLoss, LogBarrier, QuadraticPenalty
from onepeak.kernels import few
from reference import constraints as reference

CONSTRAINTS = {"barrier": lambda c: LogBarrier(c, t=1.7), "penalty": lambda c: QuadraticPenalty(c, 0.3, 0.2)}


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("batch", "num_classes"), [(1, 2), (8, 70), (64, 58), (3, 512)])
def test_value_and_gradient_are_those_of_autograd(name, dtype, batch, num_classes):
    constraint = CONSTRAINTS[name](num_classes)
    scores, labels = torch.randn(batch, num_classes, dtype=dtype), torch.randint(num_classes, (batch,))
    loss, gradient = few.mean_and_gradient(scores, labels, constraint.gap_terms())
    leaf = scores.double().requires_grad_()
    expected = F.cross_entropy(leaf, labels) + constraint.plain_cost(leaf, labels).mean()
    assert loss.dtype == gradient.dtype == dtype
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if dtype == torch.float32 else {"rtol": 1e-12, "atol": 1e-14}
    torch.testing.assert_close(loss.double(), expected.detach(), **tolerance)
    torch.testing.assert_close(gradient.double(), torch.autograd.grad(expected, leaf)[0], **tolerance)


def test_the_value_is_that_of_the_definition():
    scores, labels = torch.randn(4, 6), torch.tensor([0, 5, 2, 3])
    loss, _ = few.mean_and_gradient(scores, labels, LogBarrier(6, t=1.3).gap_terms())
    assert loss.item() == pytest.approx(reference.elb(scores.tolist(), labels.tolist(), 1.3).mean(), rel=1e-6)


def test_scores_are_left_as_they_came():
    scores, labels = torch.randn(8, 5, requires_grad=True), torch.randint(5, (8,))
    before = scores.detach().clone()
    ELBLoss(5)(scores, labels).backward()
    assert torch.equal(scores.detach(), before)


@pytest.mark.bad_input
@pytest.mark.parametrize("label", [-(2**63), -7, -1, 5, 11, 2**63 - 1])
def test_a_label_outside_the_classes_is_found_out(label):
    labels = torch.tensor([0, label, 4])
    with pytest.raises(FloatingPointError, match="not finite"):
        few.mean_and_gradient(torch.zeros(3, 5), labels, LogBarrier(5).gap_terms())


@pytest.mark.bad_input
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", range(4))
def test_a_score_that_is_not_finite_is_found_out(name, value, place):
    scores, labels = torch.zeros(2, 4), torch.tensor([1, 2])
    scores[1, place] = value
    with pytest.raises(FloatingPointError, match="not finite"):
        few.mean_and_gradient(scores, labels, CONSTRAINTS[name](4).gap_terms())


def test_usual_batches_on_a_cpu_are_taken_while_they_are_small():
    scores, labels = torch.zeros(8, 70), torch.zeros(8, dtype=torch.int64)
    assert few.takes(scores, labels, 70)
    assert few.takes(scores.double(), labels, 70)
    assert not few.takes(scores[:0], labels[:0], 70)
    assert not few.takes(torch.zeros(few.FEW, 2), torch.zeros(few.FEW, dtype=torch.int64), 2)
    assert not few.takes(torch.zeros(2, few.MOST_CLASSES + 1), labels[:2], few.MOST_CLASSES + 1)


SCORES, LABELS = torch.zeros(2, 3), torch.tensor([0, 1])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        (SCORES.tolist(), LABELS),
        (SCORES, LABELS.tolist()),
        (SCORES.int(), LABELS),
        (SCORES.bfloat16(), LABELS),
        (SCORES, LABELS.int()),
        (SCORES, LABELS.float()),
        (SCORES, torch.tensor([0, 1, 2])),
        (SCORES, LABELS[:, None]),
        (SCORES, torch.tensor(0)),
        (SCORES[:, :2], LABELS),
        (SCORES[None], LABELS[None]),
        (SCORES.to("meta"), LABELS),
        (SCORES, LABELS.to("meta")),
    ],
)
def test_whatever_is_unusual_is_left_to_the_checks(scores, labels):
    assert not few.takes(scores, labels, 3)
