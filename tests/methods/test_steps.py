import pytest
import torch

from onepeak.methods.precision import below_the_peak
from onepeak.methods.steps import Copoc, UnimodalNet
from onepeak.posterior import is_unimodal


@pytest.mark.parametrize(("place", "strict"), [(1e4, True), (1e7, False)])
def test_the_least_step_is_seen_until_rounding_takes_it(place, strict):
    outputs = torch.tensor([[-place, -1.0, -1.0, place]])  # the first three a least step apart, far below zero
    assert is_unimodal(Copoc(num_classes=4).log_probs(outputs)).all() == strict


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


def test_outputs_far_below_zero_still_have_one_peak():
    outputs = -1000 * torch.rand(200, 8, generator=torch.Generator().manual_seed(0))
    assert is_unimodal(UnimodalNet(num_classes=8).log_probs(outputs)).all()


def test_scores_near_the_peak_keep_their_digits_in_float32():
    scores = torch.tensor([1e9, 1e9 + 0.01, 1e9 + 0.02], dtype=torch.float64)
    got = below_the_peak(scores, torch.float32)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, torch.tensor([-0.02, -0.01, 0.0]), rtol=1e-4, atol=1e-7)
