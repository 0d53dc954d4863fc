import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference.methods as reference
from onepeak.constraints import order_gaps
from onepeak.methods.slopes import Slopes


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


def test_the_temperature_is_that_of_the_posterior_and_not_of_the_loss():
    outputs = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(20) % 7
    plain, warm = Slopes(num_classes=7), Slopes(num_classes=7, temperature=4.0)
    assert torch.equal(warm.loss(outputs, labels), plain.loss(outputs, labels))
    torch.testing.assert_close(warm.log_probs(outputs), plain.log_probs(outputs / 4))
    assert torch.equal(warm.predict(outputs), plain.predict(outputs))
