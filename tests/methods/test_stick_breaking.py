import torch

from onepeak.methods.corn import Corn
from onepeak.methods.stick_breaking import StickBreaking
from onepeak.posterior import is_unimodal

OUTPUTS = torch.randn(9, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(9) % 5


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
