import math

import pytest
import torch
from coral_pytorch.dataset import levels_from_labelbatch, proba_to_label
from coral_pytorch.layers import CoralLayer
from coral_pytorch.losses import coral_loss

import reference.basics as reference
from onepeak.methods.levels import (
    Coral,
    LevelQuestions,
    answers,
    level_cross_entropy,
    log_differences,
    log_products,
)


def test_answers_say_which_levels_a_label_is_above():
    assert answers(torch.tensor([0, 1, 3]), 3).int().tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 1]]


def test_the_cross_entropy_of_levels_is_the_value_worked_by_hand():
    logits = torch.tensor([[0.9, 0.4]], dtype=torch.float64).logit()
    for label, expected in ((0, -math.log(0.1 * 0.6)), (1, -math.log(0.9 * 0.6)), (2, -math.log(0.9 * 0.4))):
        assert level_cross_entropy(logits, torch.tensor([label])).item() == pytest.approx(expected)


def test_products_are_the_values_worked_by_hand_and_sum_to_one():
    log_probs = log_products(torch.tensor([0.9, 0.4, 0.5], dtype=torch.float64).logit())
    expected = torch.tensor([0.1, 0.9 * 0.6, 0.9 * 0.4 * 0.5, 0.9 * 0.4 * 0.5], dtype=torch.float64)
    torch.testing.assert_close(log_probs.exp(), expected)
    assert log_probs.logsumexp(dim=-1).item() == pytest.approx(0, abs=1e-15)


def test_levels_from_products_give_the_products_back_as_differences():
    steps = torch.randn(20, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    levels = torch.nn.functional.logsigmoid(steps).cumsum(dim=-1).exp()
    torch.testing.assert_close(log_differences(levels.logit()), log_products(steps))


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


def test_naive_differences_would_have_lost_them():
    logits = torch.tensor([[100.0, 60.0, 40.0]])
    naive = torch.cat([torch.ones(1, 1), logits.sigmoid(), torch.zeros(1, 1)], dim=-1).diff().neg()
    assert naive.tolist() == [[0.0, 0.0, 0.0, 1.0]]
    assert log_differences(logits)[0].tolist() == pytest.approx([-100, -60, -40, 0], abs=1e-5)


def test_levels_that_fall_have_the_plain_differences():
    logits = torch.randn(100, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    logits = logits.sort(dim=-1, descending=True).values
    levels = torch.cat(
        [torch.ones(100, 1, dtype=torch.float64), logits.sigmoid(), torch.zeros(100, 1, dtype=torch.float64)], dim=-1
    )
    torch.testing.assert_close(log_differences(logits).exp(), -levels.diff(dim=-1))


OUTPUTS = torch.randn(9, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(9) % 5


def test_the_loss_is_that_of_coral_pytorch():
    expected = coral_loss(OUTPUTS, levels_from_labelbatch(LABELS, num_classes=5))
    torch.testing.assert_close(LevelQuestions(5).loss(OUTPUTS, LABELS), expected, rtol=1e-5, atol=1e-5)


def test_levels_that_agree_are_counted_and_their_differences_are_the_posterior():
    outputs = torch.tensor([[0.9, 0.8, 0.3, 0.1]]).logit()
    assert LevelQuestions(5).predict(outputs).tolist() == [2]
    torch.testing.assert_close(LevelQuestions(5).log_probs(outputs).exp(), torch.tensor([[0.1, 0.1, 0.5, 0.2, 0.1]]))


def test_levels_that_do_not_agree_are_read_up_to_the_first_answered_no():
    outputs = torch.tensor([[2.0, -1.0, 3.0, 4.0]])
    assert LevelQuestions(5).predict(outputs).tolist() == [1]


def test_frank_and_hall_choose_the_most_probable_class():
    outputs = torch.tensor([[0.55, 0.52, 0.49, 0.05]]).logit()  # probabilities .45 .03 .03 .44 .05
    assert LevelQuestions(5).predict(outputs).tolist() == [2]
    assert LevelQuestions(5, decision="mode").predict(outputs).tolist() == [0]


def theirs_and_ours():
    """Their layer on a feature of one, whose weight is set to 1, gives our outputs."""
    layer = CoralLayer(size_in=1, num_classes=5)
    layer.coral_weights.weight.data.fill_(1.0)
    outputs = torch.linspace(-3, 3, 9).unsqueeze(-1)
    return layer(outputs), outputs


def test_biases_loss_and_prediction_are_those_of_coral_pytorch():
    logits, outputs = theirs_and_ours()
    coral = Coral(num_classes=5)
    torch.testing.assert_close(coral.levels(outputs), logits)
    expected = coral_loss(logits, levels_from_labelbatch(LABELS, num_classes=5))
    torch.testing.assert_close(coral.loss(outputs, LABELS), expected, rtol=1e-5, atol=1e-5)
    assert torch.equal(coral.predict(outputs), proba_to_label(logits.sigmoid()))


def test_the_posterior_which_coral_pytorch_has_not_is_the_differences_of_its_levels():
    logits, outputs = theirs_and_ours()
    levels = torch.nn.functional.pad(torch.nn.functional.pad(logits.sigmoid(), (1, 0), value=1.0), (0, 1))
    torch.testing.assert_close(Coral(num_classes=5).log_probs(outputs).exp(), -levels.diff(dim=-1))


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
