import math

import pytest
import torch

from onepeak.methods.condor import Condor

OUTPUTS = torch.randn(12, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(12) % 5


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
