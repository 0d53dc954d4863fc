"""On a GPU: every size of the kernels against double precision, and how they take part in autograd and CUDA graphs."""

import pytest
import torch

import onepeak
from onepeak.kernels import fused, launch

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
]

METHODS = {
    "mv": {"mean_weight": 0.7, "variance_weight": 0.3},
    "ld": {"variance": 1.7},
    "ld as published": {"variance": 0.4, "variant": "as_published"},
    "rps": {"weight": 0.6},
    "mv+elb": {"t": 1.7},
    "ld+pn": {"weight": 0.3, "slack": 0.2},
    "rps+elb": {"t": 1.7, "cross_entropy_weight": 1.0},
}
SIZES = [(1, 2), (7, 3), (8, 70), (64, 58), (1023, 7), (4096, 1000), (33, 1025), (5, 4095), (1100, 4096)]


def build(name, num_classes):
    return onepeak.method(name.partition(" ")[0], num_classes=num_classes, **METHODS[name]).cuda()


def batch_of(batch, num_classes, dtype=torch.float32):
    scores = (3 * torch.randn(batch, num_classes, device="cuda")).to(dtype)
    return scores.requires_grad_(), torch.randint(num_classes, (batch,), device="cuda")


def in_double(method, scores, labels):
    leaf = scores.detach().double().requires_grad_()
    loss = method.sample_losses(leaf, labels).mean()
    return loss.detach(), torch.autograd.grad(loss, leaf)[0]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("batch", "num_classes"), SIZES)
def test_value_and_gradient_are_those_of_double_precision(name, batch, num_classes):
    method = build(name, num_classes)
    scores, labels = batch_of(batch, num_classes)
    assert fused.takes(scores)
    loss = method.loss(scores, labels)
    assert "OnePass" in type(loss.grad_fn).__name__
    expected_loss, expected = in_double(method, scores, labels)
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-5, atol=1e-6)
    gradient = torch.autograd.grad(loss, scores)[0].double()
    largest = max(1 / batch, expected.abs().max().item())  # where large terms cancel each other, less is left
    torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-5 * largest)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_scores_get_a_gradient_of_their_own_dtype(name, dtype):
    method = build(name, 70)
    scores, labels = batch_of(8, 70, dtype)
    loss = launch.mean_loss(scores, labels, method.fused_terms(), method.sample_losses)
    expected_loss, expected = in_double(method, scores, labels)
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-5, atol=1e-6)
    (gradient,) = torch.autograd.grad(loss, scores)
    assert gradient.dtype == dtype
    torch.testing.assert_close(gradient.double(), expected, rtol=2e-2, atol=1e-4)


@pytest.mark.parametrize("large", [False, True])
def test_backward_twice_and_a_scaled_loss_give_what_they_should(monkeypatch, large):
    monkeypatch.setattr(launch, "LARGE", 0 if large else 1 << 30)
    scores, labels = batch_of(8, 70)
    loss = build("rps+elb", 70).loss(scores, labels)
    (once,) = torch.autograd.grad(loss, scores, retain_graph=True)
    (scaled,) = torch.autograd.grad(3 * loss, scores, retain_graph=True)
    torch.testing.assert_close(scaled, 3 * once)
    (after,) = torch.autograd.grad(loss, scores)
    assert torch.equal(once, after)


@pytest.mark.parametrize("name", METHODS)
def test_derivatives_of_derivatives_fall_back_to_autograd(name):
    method = build(name, 9)
    scores, labels = batch_of(4, 9)

    def curvature(loss):
        (slope,) = torch.autograd.grad(loss, scores, create_graph=True)
        return torch.autograd.grad(slope.square().sum(), scores)[0]

    found, expected = curvature(method.loss(scores, labels)), curvature(method.sample_losses(scores, labels).mean())
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_a_recorded_step_follows_new_scores_and_a_tightened_barrier(name):
    method = build(name, 70)
    scores, labels = batch_of(8, 70)

    def step():
        loss = method.loss(scores, labels)
        (gradient,) = torch.autograd.grad(loss, scores)
        return loss.detach(), gradient  # a graph kept alive would tie the scores to the stream of the recording

    step()  # what is built on first use exists when the recording begins
    recording = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recording):
        loss, gradient = step()
    with torch.no_grad():
        scores.copy_(torch.randn_like(scores))
    method.tighten()
    recording.replay()
    expected_loss, expected = step()
    assert torch.equal(loss, expected_loss)
    assert torch.equal(gradient, expected)


def test_memory_is_the_gradient_and_little_more():
    method = build("rps+elb", 4096)
    scores, labels = batch_of(4096, 4096)
    method.loss(scores, labels).backward()
    scores.grad = None
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    method.loss(scores, labels).backward()
    assert torch.cuda.max_memory_allocated() - before < 1.01 * scores.nbytes
