import pytest
import torch

import reference.basics as reference
from onepeak.methods.levels import (
    CodeWords,
    Condor,
    Coral,
    Corn,
    LevelQuestions,
    StickBreaking,
    log_differences,
    log_products,
)
from onepeak.posterior import is_unimodal


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


OUTPUTS = torch.randn(9, 4, generator=torch.Generator().manual_seed(0))


def test_the_prediction_is_the_nearest_code_word():
    outputs = torch.tensor([[0.9, 0.2, 0.8]]).logit()
    codes = torch.tensor([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]])
    nearest = (outputs.sigmoid() - codes).square().sum(dim=-1).argmin()
    assert CodeWords(num_classes=4).predict(outputs).item() == nearest == 1


def test_the_scores_are_minus_the_squared_distances_up_to_a_constant():
    ecoc = CodeWords(num_classes=5)
    losses = torch.stack([ecoc.loss(OUTPUTS, torch.full((12,), k), reduction="none") for k in range(5)], dim=-1)
    scores = ecoc.class_scores(OUTPUTS)
    torch.testing.assert_close(scores, losses[:, :1] - losses)


def test_the_posterior_is_never_sharper_than_a_factor_of_e_a_class():
    sharpest = CodeWords(num_classes=3).log_probs(torch.tensor([[1e4, -1e4]]))
    assert (sharpest[0, 1] - sharpest[0, 0]).item() == pytest.approx(1)


OUTPUTS = torch.randn(12, 4, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(12) % 5


def test_the_losses_of_the_questions_add_up_to_the_log_likelihood():
    corn = Corn(num_classes=5)
    likelihood = corn.log_probs(OUTPUTS).gather(-1, LABELS.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(corn.loss(OUTPUTS, LABELS, reduction="none"), -likelihood)


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
