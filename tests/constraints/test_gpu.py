"""On a GPU: the values of the CPU, and no step that waits for the device."""

import pytest
import torch

from onepeak import ELBLoss, PenaltyLoss
from onepeak.errors import InputError

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
