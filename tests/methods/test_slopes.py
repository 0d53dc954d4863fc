import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference.methods as reference
from onepeak.constraints import order_gaps
from onepeak.methods.slopes import Slopes
from onepeak.posterior import is_unimodal


def test_a_posterior_worked_by_hand():
    outputs = torch.tensor([[math.log(3), -math.log(2)]])  # scores 0, log 3, log 3/2: 1 : 3 : 3/2
    slopes = Slopes(num_classes=3)
    assert slopes.log_probs(outputs).exp().tolist() == [pytest.approx([2 / 11, 6 / 11, 3 / 11])]
    assert slopes.predict(outputs).tolist() == [1]


def test_the_outputs_are_the_logits_of_adjacent_classes():
    outputs = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
    log_probs = Slopes(num_classes=7).log_probs(outputs)
    torch.testing.assert_close(log_probs.diff(dim=-1), outputs)


def test_settings_agree_with_the_slow_reference():
    for num_classes in [2, 3, 8, 70]:
        for levels, weight in [("squared", 0.0), ("squared", 2.0), ("logistic", 0.1)]:
            outputs = torch.randn(10, num_classes - 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
            labels = torch.arange(10) % num_classes
            losses = Slopes(num_classes, levels=levels, weight=weight).loss(outputs, labels, reduction="none")
            expected = [
                reference.slopes(row, label, levels=levels, weight=weight).loss
                for row, label in zip(outputs.tolist(), labels.tolist(), strict=True)
            ]
            assert losses.tolist() == pytest.approx(expected)


@given(data=st.data(), num_classes=st.integers(2, 12))
def test_right_answers_to_every_question_are_the_constraints_of_the_paper(data, num_classes):
    size = num_classes - 1
    outputs = torch.tensor([data.draw(st.lists(st.floats(-5, 5), min_size=size, max_size=size))], dtype=torch.float64)
    label = torch.tensor([data.draw(st.integers(0, size))])
    answers = (outputs > 0) == (torch.arange(size) < label)
    answers &= outputs != 0  # half a yes is no answer, a tie is out of order
    in_order = order_gaps(Slopes(num_classes).class_scores(outputs), label) < 0
    # adding up and taking differences again may lose a slope far smaller than its neighbours
    clear = outputs.abs() > 1e-9
    assert torch.equal(answers[clear], in_order[clear])


def test_outputs_that_fall_make_one_peak():
    outputs = torch.randn(200, 9, generator=torch.Generator().manual_seed(0)).sort(dim=-1, descending=True).values
    assert is_unimodal(Slopes(num_classes=10).log_probs(outputs)).all()


def test_the_temperature_is_that_of_the_posterior_and_not_of_the_loss():
    outputs = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(20) % 7
    plain, warm = Slopes(num_classes=7), Slopes(num_classes=7, temperature=4.0)
    assert torch.equal(warm.loss(outputs, labels), plain.loss(outputs, labels))
    torch.testing.assert_close(warm.log_probs(outputs), plain.log_probs(outputs / 4))
    assert torch.equal(warm.predict(outputs), plain.predict(outputs))


def test_squared_levels_are_bounded_where_logistic_ones_are_not():
    wrong = torch.full((1, 4), -1e4)
    squared = Slopes(num_classes=5, weight=0.0).loss(wrong, torch.tensor([4])).item()
    logistic = Slopes(num_classes=5, weight=0.0, levels="logistic").loss(wrong, torch.tensor([4])).item()
    assert squared == 4.0
    assert logistic == pytest.approx(4e4)
