import torch
from dlordinal.output_layers import COPOC

from onepeak.methods.copoc import Copoc
from onepeak.methods.steps import SMALLEST_STEP
from onepeak.posterior import is_unimodal

OUTPUTS = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))


def test_the_posterior_is_that_of_dlordinal_with_steps_of_the_same_least_size():
    theirs = COPOC(phi=lambda step: step.abs() + SMALLEST_STEP)(OUTPUTS).log_softmax(dim=-1)
    torch.testing.assert_close(Copoc(num_classes=6).log_probs(OUTPUTS), theirs, rtol=1e-5, atol=1e-5)


def test_outputs_of_zero_leave_one_peak_where_dlordinal_has_none():
    outputs = torch.tensor([[-0.5, 0.0, 0.0, 0.0]])
    assert is_unimodal(Copoc(num_classes=4).log_probs(outputs)).all()
    assert not is_unimodal(COPOC()(outputs)).any()


def test_any_peak_and_any_fall_on_either_side_can_be_said():
    scores = Copoc(num_classes=4).class_scores(torch.tensor([[-3.0, 2.99, 4.99, 0.49]]))
    torch.testing.assert_close(scores, torch.tensor([[-3.0, 0.0, -5.0, -5.5]]), atol=1e-5, rtol=0)
