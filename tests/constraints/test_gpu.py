"""On a GPU: the values of the CPU, and no step that waits for the device."""

import pytest
import torch
from torch.nn import functional as F

from onepeak import ELBLoss, LogBarrier, PenaltyLoss, QuadraticPenalty
from onepeak.constraints.cross_entropy import fused_terms
from onepeak.constraints.gaps import order_cost
from onepeak.errors import InputError
from onepeak.kernels import fused

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
]


@pytest.mark.parametrize("kind", [ELBLoss, PenaltyLoss])
@pytest.mark.parametrize("size", [(8, 70), (64, 58), (33, 1000)])
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_value_and_gradient_are_those_of_the_cpu(kind, size, reduction):
    scores, labels = torch.randn(*size), torch.randint(size[1], size[:1])
    loss = kind(size[1], reduction=reduction)
    here, there = scores.clone().requires_grad_(), scores.cuda().requires_grad_()
    expected = loss(here, labels)
    found = loss.cuda()(there, labels.cuda())
    expected.sum().backward()
    found.sum().backward()
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(there.grad.cpu(), here.grad, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", [ELBLoss, PenaltyLoss])
def test_a_loss_that_was_not_moved_takes_scores_on_the_gpu_as_those_of_torch_do(kind):
    scores, labels = torch.randn(8, 70), torch.randint(70, (8,))
    expected = kind(70)(scores, labels)
    torch.testing.assert_close(kind(70)(scores.cuda(), labels.cuda()).cpu(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.bad_input
def test_labels_left_on_the_cpu_are_refused():
    with pytest.raises(InputError, match=r"`labels` must be on the device of the scores, cuda:0, got cpu"):
        ELBLoss(70).cuda()(torch.randn(8, 70, device="cuda"), torch.randint(70, (8,)))


@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype:UserWarning")
def test_no_step_waits_for_the_device():
    scores = torch.randn(8, 70, device="cuda", requires_grad=True)
    labels = torch.randint(70, (8,), device="cuda")
    loss = ELBLoss(70).cuda()
    loss(scores, labels).backward()  # reads t, once
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(3):
            loss(scores, labels).backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_a_captured_graph_follows_t():
    scores = torch.randn(8, 70, device="cuda")
    labels = torch.randint(70, (8,), device="cuda")
    loss = ELBLoss(70, growth=2.0).cuda()
    loss(scores, labels)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        value = loss(scores, labels)
    for _ in range(2):
        graph.replay()
        torch.testing.assert_close(value, loss(scores, labels), rtol=1e-5, atol=1e-5)
        loss.tighten()


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


def test_rows_too_long_for_a_program_go_without():
    scores = torch.randn(3, 4097, device="cuda", requires_grad=True)
    assert not fused.takes(scores)
    labels = torch.tensor([0, 7, 4096], device="cuda")
    expected = F.cross_entropy(scores, labels) + order_cost(LogBarrier(4097).cuda(), scores, labels).mean()
    torch.testing.assert_close(ELBLoss(4097).cuda()(scores, labels), expected)
