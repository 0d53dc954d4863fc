import pytest
import torch
from dlordinal.output_layers import COPOC

from onepeak.methods.steps import SMALLEST_STEP, Copoc
from onepeak.posterior import is_unimodal

OUTPUTS = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))


def test_the_posterior_is_that_of_dlordinal_from_the_same_start_and_with_the_same_least_step():
    moved = OUTPUTS + torch.tensor([-2.5, 1, 1, 1, 1, 1])
    theirs = COPOC(phi=lambda step: step.abs() + SMALLEST_STEP)(moved).log_softmax(dim=-1)
    torch.testing.assert_close(Copoc(num_classes=6).log_probs(OUTPUTS), theirs, rtol=1e-5, atol=1e-5)


def test_steps_of_zero_leave_one_peak_where_dlordinal_has_none():
    outputs = torch.tensor([[-0.5, 0.0, 0.0, 0.0]])
    assert is_unimodal(Copoc(num_classes=4).log_probs(outputs + torch.tensor([1.5, -1, -1, -1]))).all()
    assert not is_unimodal(COPOC()(outputs)).any()


@pytest.mark.parametrize(("place", "strict"), [(1e4, True), (1e7, False)])
def test_the_least_step_is_seen_until_rounding_takes_it(place, strict):
    outputs = torch.tensor([[-place, -1.0, -1.0, place]])  # the first three a least step apart, far below zero
    assert is_unimodal(Copoc(num_classes=4).log_probs(outputs)).all() == strict


def test_any_peak_and_any_fall_on_either_side_can_be_said():
    scores = Copoc(num_classes=4).class_scores(torch.tensor([[-1.5, 1.99, 3.99, -0.51]]))
    torch.testing.assert_close(scores, torch.tensor([[-3.0, 0.0, -5.0, -5.5]]), atol=1e-5, rtol=0)


@pytest.mark.parametrize("label", [0, 3, 5])
def test_where_a_network_begins_any_class_can_be_learnt(label):
    outputs = torch.full((1, 6), 0.1, requires_grad=True)
    optimizer = torch.optim.SGD([outputs], lr=0.3)
    copoc = Copoc(num_classes=6)
    for _ in range(200):
        optimizer.zero_grad()
        copoc.loss(outputs, torch.tensor([label])).backward()
        optimizer.step()
    assert copoc.predict(outputs).item() == label
