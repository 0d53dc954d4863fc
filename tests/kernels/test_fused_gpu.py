"""On a GPU: every size of the kernels against double precision, and how they take part in autograd."""

import pytest
import torch
from torch.nn import functional as F

from onepeak import ELBLoss, LogBarrier, PenaltyLoss, QuadraticPenalty
from onepeak.constraints.cross_entropy import fused_terms
from onepeak.constraints.gaps import order_cost
from onepeak.kernels import fused

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
]

CONSTRAINTS = {"barrier": lambda c: LogBarrier(c, t=1.7), "penalty": lambda c: QuadraticPenalty(c, 0.3, 0.2)}
SIZES = [(1, 2), (7, 3), (8, 70), (64, 58), (4096, 1000), (33, 4096)]


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize(("batch", "num_classes"), SIZES)
def test_value_and_gradient_are_those_of_double_precision(name, batch, num_classes):
    constraint = CONSTRAINTS[name](num_classes).cuda()
    scores = 3 * torch.randn(batch, num_classes, device="cuda")
    labels = torch.randint(num_classes, (batch,), device="cuda")
    assert fused.takes(scores)
    loss, gradient = fused_terms(constraint).loss_and_gradient(scores, labels)
    leaf = scores.double().requires_grad_()
    expected = F.cross_entropy(leaf, labels) + order_cost(constraint, leaf, labels).mean()
    torch.testing.assert_close(loss.double(), expected.detach(), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(gradient.double(), torch.autograd.grad(expected, leaf)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [ELBLoss, PenaltyLoss])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_scores_get_a_gradient_of_their_own_dtype(kind, dtype):
    scores = torch.randn(8, 70, device="cuda", dtype=dtype, requires_grad=True)
    labels = torch.randint(70, (8,), device="cuda")
    kind(70).cuda()(scores, labels).backward()
    full = scores.detach().float().requires_grad_()
    kind(70).cuda()(full, labels).backward()
    assert scores.grad.dtype == dtype
    torch.testing.assert_close(scores.grad.float(), full.grad, rtol=2e-2, atol=1e-4)


def test_rows_too_long_for_a_program_go_without():
    scores = torch.randn(3, 4097, device="cuda", requires_grad=True)
    assert not fused.takes(scores)
    labels = torch.tensor([0, 7, 4096], device="cuda")
    expected = F.cross_entropy(scores, labels) + order_cost(LogBarrier(4097).cuda(), scores, labels).mean()
    torch.testing.assert_close(ELBLoss(4097).cuda()(scores, labels), expected)
