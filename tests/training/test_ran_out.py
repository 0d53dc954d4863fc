import math

import pytest

from onepeak.training.history import write_history
from onepeak.training.ran_out import SHARE, ran_out, values_to_lower


def exponential(rate, epochs=100):
    """A loss that falls by a rate in steps whose length falls along a cosine, as learning rates do."""
    gone, values = 0.0, [1.0]
    for epoch in range(epochs):
        gone += 0.5 * (1 + math.cos(math.pi * epoch / epochs))
        values.append(math.exp(-rate * gone))
    return values


def test_a_training_that_has_arrived_has_not_run_out_though_its_last_epoch_is_the_best():
    values = exponential(0.2)
    assert values[-1] == min(values) < values[-2]
    assert not ran_out(values)


def test_a_training_on_its_way_has_run_out():
    assert ran_out(exponential(0.005))


@pytest.mark.parametrize(("late", "expected"), [(0.9 * SHARE, False), (1.1 * SHARE, True)])
def test_what_the_second_half_brought_decides(late, expected):
    assert ran_out([2.0, 1.0 + late, 1.0 + late, 1.0 + late, 1.0]) is expected


def test_one_bad_epoch_at_half_time_is_no_late_gain():
    assert not ran_out([2.0, 1.01, 1.9, 1.005, 1.0])


def test_a_best_value_before_the_last_quarter_is_not_at_the_end():
    assert not ran_out([2.0, 1.8, 1.7, 1.6, 1.0, 1.1, 1.1, 1.1, 1.1])


def test_a_training_that_never_gets_better_has_not_run_out():
    assert not ran_out([1.0, 1.0, 1.0, 1.0])
    assert not ran_out([1.0, 1.2, 1.1])


def test_losses_below_zero_are_losses():
    assert ran_out([-1.0, -2.0, -3.0, -4.0, -5.0])


def test_one_epoch_is_too_short_where_it_helped():
    assert ran_out([1.0, 0.5])


def test_what_chose_the_epoch_is_read_with_the_best_lowest(tmp_path):
    write_history([{"valid_mae": 2.0, "valid_qwk": math.nan}, {"valid_mae": 1.0, "valid_qwk": 0.5}], tmp_path)
    assert values_to_lower(tmp_path, "mae") == [2.0, 1.0]
    assert values_to_lower(tmp_path, "qwk") == [math.inf, -0.5]
    assert values_to_lower(tmp_path, "last") == []


def test_a_first_value_that_is_not_defined_is_no_gain():
    values = [math.inf, -0.1, -0.2, -0.3, -0.4, -0.5, -0.6]
    assert ran_out(values)
    assert not ran_out([math.inf, -0.1, -0.58, -0.59, -0.6, -0.6, -0.6])
    assert not ran_out([math.inf, math.inf])


def test_where_nothing_is_defined_in_the_first_half_the_gain_begins_with_the_first_value_that_is():
    assert not ran_out([math.inf] * 6 + [-0.5, -0.5])
    assert ran_out([math.inf] * 6 + [-0.5, -0.9])
