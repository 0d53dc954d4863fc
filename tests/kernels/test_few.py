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
    loss, gradient = few.ordered_cross_entropy_of_few(scores, labels, constraint.gap_terms())
    leaf = scores.double().requires_grad_()
    expected = F.cross_entropy(leaf, labels) + constraint.plain_cost(leaf, labels).mean()
    assert loss.dtype == gradient.dtype == dtype
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if dtype == torch.float32 else {"rtol": 1e-12, "atol": 1e-14}
    torch.testing.assert_close(loss.double(), expected.detach(), **tolerance)
    torch.testing.assert_close(gradient.double(), torch.autograd.grad(expected, leaf)[0], **tolerance)


def test_the_value_is_that_of_the_definition():
    scores, labels = torch.randn(4, 6), torch.tensor([0, 5, 2, 3])
    loss, _ = few.ordered_cross_entropy_of_few(scores, labels, LogBarrier(6, t=1.3).gap_terms())
    assert loss.item() == pytest.approx(reference.elb(scores.tolist(), labels.tolist(), 1.3).mean(), rel=1e-6)


def test_scores_are_left_as_they_came():
    scores, labels = torch.randn(8, 5, requires_grad=True), torch.randint(5, (8,))
    before = scores.detach().clone()
    ELBLoss(5)(scores, labels).backward()
    assert torch.equal(scores.detach(), before)


@pytest.mark.bad_input
@pytest.mark.parametrize("label", [-1, 5])
def test_a_label_outside_the_classes_is_no_index(label):
    with pytest.raises(IndexError):
        few.ordered_cross_entropy_of_few(torch.zeros(1, 5), torch.tensor([label]), LogBarrier(5).gap_terms())


def test_many_scores_many_classes_and_other_devices_are_not_few():
    assert few.are_few(torch.zeros(8, 70))
    assert not few.are_few(torch.zeros(0, 70))
    assert not few.are_few(torch.zeros(few.FEW, 2))
    assert not few.are_few(torch.zeros(2, few.MOST_CLASSES + 1))
    assert not few.are_few(torch.zeros(8, 70, device="meta"))
