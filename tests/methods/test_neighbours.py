import math

import pytest
import torch

from onepeak.methods.neighbours import UnimodalConcentrated


def test_a_sure_and_right_posterior_costs_least_and_that_is_finite():
    uc = UnimodalConcentrated(num_classes=4)
    sure = torch.tensor([[0.0, 1e4, 0.0, 0.0]])
    assert uc.loss(sure, torch.tensor([1])).item() == pytest.approx(0.5 * math.log(1 / 12))
    scores = torch.randn(200, 4, generator=torch.Generator().manual_seed(0))
    assert (uc.loss(scores, torch.ones(200).long(), reduction="none") > 0.5 * math.log(1 / 12)).all()


def test_the_best_width_is_that_of_the_error():
    """With the mean two classes off, a variance of 4 is best."""
    spreads = torch.linspace(0.5, 40, 80)
    centred = -((torch.arange(41.0) - 22) ** 2) / (2 * spreads.unsqueeze(-1))
    losses = UnimodalConcentrated(num_classes=41, weight=0.0).loss(centred, torch.full((80,), 20), reduction="none")
    assert spreads[losses.argmin()].item() == pytest.approx(4, abs=0.5)
