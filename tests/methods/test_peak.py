import pytest
import torch
from torch import nn

import onepeak
from onepeak.posterior import is_unimodal

SCORES = torch.randn(9, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(9) % 5


def test_it_is_what_its_long_name_spells():
    peak = onepeak.method("peak", num_classes=5)
    parts = onepeak.method("smooth-rps+elb", num_classes=5, cross_entropy_weight=1.0, t=3.0, decision="mode")
    torch.testing.assert_close(peak.loss(SCORES, LABELS), parts.loss(SCORES, LABELS))
    torch.testing.assert_close(peak.log_probs(SCORES), parts.log_probs(SCORES))
    assert torch.equal(peak.predict(SCORES), parts.predict(SCORES))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_layer_and_loss_in_a_loop_of_ones_own_are_the_method(reduction):
    weight, sample_weight = torch.linspace(0.5, 2, 5), torch.rand(9)
    method = onepeak.method("peak", num_classes=5, class_weight=weight)
    layer, loss = onepeak.SmoothScores(5), onepeak.PeakLoss(num_classes=5, weight=weight, reduction=reduction)
    scores = layer(SCORES)
    torch.testing.assert_close(
        loss(scores, LABELS, sample_weight), method.loss(SCORES, LABELS, sample_weight, reduction=reduction)
    )
    torch.testing.assert_close(scores.log_softmax(-1), method.log_probs(SCORES))
    assert torch.equal(scores.argmax(-1), method.predict(SCORES))


def test_the_barrier_stays_so_nothing_has_to_be_called_once_an_epoch():
    peak = onepeak.method("peak", num_classes=5)
    before = peak.loss(SCORES, LABELS)
    peak.tighten()
    assert torch.equal(peak.loss(SCORES, LABELS), before)


def test_layer_and_loss_travel_with_the_network():
    network = nn.Sequential(nn.Linear(4, 5), onepeak.SmoothScores(5)).bfloat16()
    assert list(network.state_dict()) == ["0.weight", "0.bias"]  # a checkpoint of the network alone still fits
    scores = network(torch.randn(3, 4, dtype=torch.bfloat16))
    assert scores.dtype == torch.float32
    onepeak.PeakLoss(num_classes=5).bfloat16()(scores, torch.tensor([0, 2, 4])).backward()
    assert network[0].weight.grad.isfinite().all()


def test_a_few_steps_of_gradient_descent_give_every_sample_one_peak():
    outputs = torch.zeros(20, 70, requires_grad=True)
    labels, peak = torch.arange(20) * 69 // 19, onepeak.method("peak", num_classes=70)
    optimizer = torch.optim.Adam([outputs], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        peak.loss(outputs, labels, reduction="sum").backward()
        optimizer.step()
    assert is_unimodal(peak.log_probs(outputs)).all()
    assert torch.equal(peak.predict(outputs), labels)
