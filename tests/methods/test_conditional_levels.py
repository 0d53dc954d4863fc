import math

import pytest
import torch
from coral_pytorch.dataset import corn_label_from_logits
from coral_pytorch.losses import corn_loss

from onepeak.methods.conditional_levels import Condor, Corn, StickBreaking
from onepeak.posterior import is_unimodal

OUTPUTS = torch.randn(12, 4, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(12) % 5


def test_the_loss_is_that_of_coral_pytorch_but_for_what_the_mean_divides_by():
    """Theirs divides by the questions asked in the batch, ours by its samples."""
    questions = (LABELS + 1).clamp(max=4).sum()
    expected = corn_loss(OUTPUTS, LABELS, num_classes=5) * questions / len(LABELS)
    torch.testing.assert_close(Corn(num_classes=5).loss(OUTPUTS, LABELS), expected, rtol=1e-5, atol=1e-5)


def test_the_likelihood_of_the_first_example_in_condor_pytorchs_documentation():
    """`condor_negloglikeloss` of these logits is given there as 0.4936: it is this loss, and not that of `Condor`."""
    outputs = torch.tensor([[2.1, 1.8, -2.1, -1.8], [1.9, -1.0, -1.5, -1.3], [1.9, 1.8, 1.7, 1.6]])
    assert Corn(num_classes=5).loss(outputs, torch.tensor([2, 1, 4])).item() == pytest.approx(0.4936, abs=1e-4)


def test_the_prediction_is_that_of_coral_pytorch():
    assert torch.equal(Corn(num_classes=5).predict(OUTPUTS), corn_label_from_logits(OUTPUTS))


def test_the_posterior_is_no_one_hot_vector_as_dlordinals_is():
    log_probs = Corn(num_classes=3).log_probs(torch.tensor([[0.8, 0.5]]).logit())
    torch.testing.assert_close(log_probs.exp(), torch.tensor([[0.2, 0.4, 0.4]]))


def test_the_losses_of_the_questions_add_up_to_the_log_likelihood():
    corn = Corn(num_classes=5)
    likelihood = corn.log_probs(OUTPUTS).gather(-1, LABELS.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(corn.loss(OUTPUTS, LABELS, reduction="none"), -likelihood)


def test_the_loss_is_the_value_worked_by_hand():
    outputs = torch.tensor([[0.9, 0.5]], dtype=torch.float64).logit()  # levels .9 and .45
    for label, expected in ((0, 0.1 * 0.55), (1, 0.9 * 0.55), (2, 0.9 * 0.45)):
        got = Condor(num_classes=3).loss(outputs, torch.tensor([label]))
        assert got.item() == pytest.approx(-math.log(expected))


def test_the_loss_of_the_first_example_in_condor_pytorchs_documentation():
    """`CondorOrdinalCrossEntropy` of these logits is given there as 0.8259."""
    outputs = torch.tensor([[2.1, 1.8, -2.1, -1.8], [1.9, -1.0, -1.5, -1.3], [1.9, 1.8, 1.7, 1.6]])
    assert Condor(num_classes=5).loss(outputs, torch.tensor([2, 1, 4])).item() == pytest.approx(0.8259, abs=1e-4)


def test_a_level_so_near_to_one_that_its_rest_is_zero_keeps_its_digits():
    loss = Condor(num_classes=2).loss(torch.tensor([[200.0]]), torch.tensor([0]))
    assert loss.item() == pytest.approx(200)


def test_pieces_are_shares_of_what_is_left():
    log_probs = StickBreaking(num_classes=4).log_probs(torch.tensor([[0.5, 0.5, 0.25]]).logit())
    torch.testing.assert_close(log_probs.exp(), torch.tensor([[0.5, 0.25, 0.0625, 0.1875]]))
    assert not is_unimodal(log_probs).any()  # whatever its company in the literature


def test_it_is_corn_with_the_sign_turned():
    sticks, corn = StickBreaking(num_classes=5), Corn(num_classes=5)
    torch.testing.assert_close(sticks.log_probs(OUTPUTS), corn.log_probs(-OUTPUTS))
    torch.testing.assert_close(sticks.loss(OUTPUTS, LABELS), corn.loss(-OUTPUTS, LABELS))


def test_dlordinals_pieces_are_others():
    """There the product runs over the class itself too, and shares are cut to .1 to .9: its logits are others."""
    from dlordinal.output_layers import StickBreakingLayer

    shares = torch.tensor([[0.5, 0.5, 0.25, 0.5]])
    theirs = StickBreakingLayer(3, 4).get_stick_logits(shares).exp()
    torch.testing.assert_close(theirs, torch.tensor([[0.25, 0.125, 0.046875, 0.046875]]))
