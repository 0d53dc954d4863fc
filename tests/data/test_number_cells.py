import datetime

import numpy as np
import pandas as pd
import pytest

from onepeak.data.number_cells import number_cells
from onepeak.errors import InputError


def numbers(*cells, dtype=object):
    values, wrong = number_cells(pd.Series(cells, index=range(2, len(cells) + 2), name="size", dtype=dtype))
    return values.tolist(), wrong


def test_a_cell_that_is_no_number_spoils_no_other():
    values, wrong = numbers("1", "big", " 2.5 ", "1e3", "61,5")
    np.testing.assert_array_equal(values, [1, np.nan, 2.5, 1000, np.nan])
    assert wrong == {
        1: "`size` must be a number, got 'big'",
        4: "`size` must be a number, got '61,5'. Write numbers as 1234.5, or give --decimal , (`decimal`) for a CSV "
        "with decimal commas",
    }


def test_what_stands_for_missing_is_not_wrong():
    values, wrong = numbers("NA", "", None, "?", "nan", "7")
    np.testing.assert_array_equal(values, [np.nan] * 5 + [7])
    assert wrong == {}


def test_true_and_false_are_numbers_in_a_column_of_nothing_else():
    values, wrong = numbers("True", "false", "", "maybe")
    np.testing.assert_array_equal(values, [1, 0, np.nan, np.nan])
    assert wrong == {3: "`size` must be a number, got 'maybe'"}
    assert numbers("1", "true")[1] == {1: "`size` must be a number, got 'true'"}


def test_what_float32_cannot_hold_is_wrong_as_text_and_as_number():
    values, wrong = numbers("inf", "-1e39", "3e38")
    np.testing.assert_array_equal(values, [np.nan, np.nan, 3e38])
    assert wrong == {
        0: "`size` must be finite and fit into float32, got inf",
        1: "`size` must be finite and fit into float32, got -1e39",
    }
    assert numbers(1.0, 1e300, dtype=float)[1] == {1: "`size` must be finite and fit into float32, got 1e+300"}


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [((1, None), "Int64"), ((True, None), "boolean"), (("1", None), "string"), ((1.0, None), "category")],
)
def test_types_with_missing_values_of_their_own_are_read(cells, dtype):
    values, wrong = numbers(*cells, dtype=dtype)
    np.testing.assert_array_equal(values, [1, np.nan])
    assert wrong == {}


@pytest.mark.bad_input
@pytest.mark.parametrize("cells", [(datetime.date(2020, 1, 1), None), ({"a": 1},), (1j,)])
def test_other_kinds_of_column_are_refused(cells):
    with pytest.raises(
        InputError, match=r"A feature must hold numbers, .* but the column 'size' holds object such as "
    ):
        numbers(*cells)


def test_a_message_shows_the_beginning_of_a_long_text():
    _, wrong = numbers("1", "x" * 200)
    assert wrong == {1: f"`size` must be a number, got '{'x' * 40}...'"}
