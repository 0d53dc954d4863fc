import pytest
import torch

import reference.basics as reference
from onepeak.methods.levels import (
    CodeWords,
    Condor,
    Coral,
    log_differences,
    log_products,
)


def test_products_keep_their_digits_far_out():
    assert log_products(torch.tensor([1e4, -1e4, 30.0])).tolist() == pytest.approx([-1e4, 0.0, -10030.0, -1e4])


@pytest.mark.parametrize(
    "logits",
    [
        [100.0, 60.0, 40.0],
        [60.0, 40.0, -80.0],
        [-40.0, -60.0, -80.0, -100.0],
        [100.0, 99.9999, 0.5, -0.5, -99.0, -100.0],
        [1e-3, 0.0, -1e-3],
        [2.0, -1.0, 3.0, -2.0],  # does not fall: its running minimum does
        [41.0, 40.0, 45.0, 40.0],  # with ties
    ],
)
def test_differences_of_levels_lose_no_digit_where_sigmoids_are_one_or_zero(logits):
    log_probs = log_differences(torch.tensor([logits], dtype=torch.float64))
    expected = reference.level_differences(logits)
    assert log_probs[0].tolist() == pytest.approx(expected.tolist(), rel=1e-12, abs=1e-12)
    in_float32 = log_differences(torch.tensor([logits]))
    exact_again = reference.level_differences(torch.tensor(logits).tolist())
    assert in_float32[0].tolist() == pytest.approx(exact_again.tolist(), rel=1e-6, abs=1e-6)


def test_biases_out_of_order_still_give_a_posterior():
    coral = Coral(num_classes=4)
    coral.biases.data.copy_(torch.tensor([0.0, 1.0, -1.0]))
    log_probs = coral.log_probs(torch.zeros(1, 1))
    assert log_probs.isfinite().all()
    assert log_probs.exp()[0, 1] < 1e-6  # between two levels of which the second is no lower
    torch.testing.assert_close(log_probs.exp().sum(), torch.tensor(1.0))


def test_training_finds_biases_in_order():
    coral = Coral(num_classes=4)
    coral.biases.data.copy_(torch.tensor([-1.0, 0.0, 1.0]))
    outputs = torch.linspace(-3, 3, 40).unsqueeze(-1)
    labels = ((outputs.squeeze(-1) + 3) / 6.01 * 4).long()
    optimizer = torch.optim.Adam(coral.parameters(), lr=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        coral.loss(outputs, labels).backward()
        optimizer.step()
    assert (coral.biases.diff() < 0).all()


def test_the_posterior_is_never_sharper_than_a_factor_of_e_a_class():
    sharpest = CodeWords(num_classes=3).log_probs(torch.tensor([[1e4, -1e4]]))
    assert (sharpest[0, 1] - sharpest[0, 0]).item() == pytest.approx(1)


def test_a_level_so_near_to_one_that_its_rest_is_zero_keeps_its_digits():
    loss = Condor(num_classes=2).loss(torch.tensor([[200.0]]), torch.tensor([0]))
    assert loss.item() == pytest.approx(200)
