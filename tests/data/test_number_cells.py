import datetime

import numpy as np
import pandas as pd
import pytest

from onepeak.data.number_cells import number_cells


def numbers(*cells, dtype=object):
    values, wrong = number_cells(pd.Series(cells, index=range(2, len(cells) + 2), name="size", dtype=dtype))
    return values.tolist(), wrong


def test_a_cell_that_is_no_number_spoils_no_other():
    values, wrong = numbers("1", "big", " 2.5 ", "1e3", "61,5")
    np.testing.assert_array_equal(values, [1, np.nan, 2.5, 1000, np.nan])
    assert wrong == {
        1: "`size` must be a number, got 'big'",
        4: "`size` must be a number, got '61,5': write it with a point",
    }


def test_a_comma_that_may_separate_thousands_is_not_said_to_be_decimal():
    _, wrong = numbers("1,234")
    assert wrong[0] == (
        "`size` must be a number, got '1,234': write 1234 for 1,234 if it separates thousands, else 1.234, or of a CSV "
        "say with --decimal , (`decimal`) that the comma is decimal"
    )


def test_of_a_decimal_comma_it_is_told_what_reads_it_where_something_does():
    say_so = ", or of a CSV say with --decimal , (`decimal`) that the comma is decimal"
    assert numbers("0,84", "7")[1][0] == f"`size` must be a number, got '0,84': write it with a point{say_so}"
    assert numbers("0,84", "7.5")[1][0] == "`size` must be a number, got '0,84': write it with a point"
    assert not numbers("1,234", "7.5")[1][0].endswith(say_so)


def test_what_stands_for_missing_is_not_wrong():
    values, wrong = numbers("NA", "", None, "?", "nan", "7")
    np.testing.assert_array_equal(values, [np.nan] * 5 + [7])
    assert wrong == {}


def test_true_and_false_are_numbers_in_a_column_of_nothing_else():
    values, wrong = numbers("True", "false", "", "maybe")
    np.testing.assert_array_equal(values, [1, 0, np.nan, np.nan])
    assert wrong == {3: "`size` must be true or false, got 'maybe'"}
    assert numbers("1", "true")[1] == {1: "`size` must be a number, got 'true'"}


def test_what_float32_cannot_hold_is_wrong_as_text_and_as_number():
    values, wrong = numbers("inf", "-1e39", "3e38")
    np.testing.assert_array_equal(values, [np.nan, np.nan, 3e38])
    assert wrong == {
        0: "`size` must be finite and fit into float32, got inf",
        1: "`size` must be finite and fit into float32, got -1e39",
    }
    assert numbers(1.0, 1e300, dtype=float)[1] == {1: "`size` must be finite and fit into float32, got 1e+300"}


@pytest.mark.parametrize(("cells", "dtype"), [((1, None), "Int64"), ((True, None), "boolean"), (("1", None), "string")])
def test_types_with_missing_values_of_their_own_are_read(cells, dtype):
    values, wrong = numbers(*cells, dtype=dtype)
    np.testing.assert_array_equal(values, [1, np.nan])
    assert wrong == {}


def test_other_kinds_of_column_are_left_for_others_to_refuse():
    day = datetime.date(2020, 1, 1)
    assert numbers(day, None) == ([day, None], {})


def test_a_message_shows_the_beginning_of_a_long_text():
    _, wrong = numbers("1", "x" * 200)
    assert wrong == {1: f"`size` must be a number, got '{'x' * 40}...'"}
