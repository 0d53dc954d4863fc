import numpy as np
import pandas as pd
import pytest

from onepeak.data.text_columns import typed
from onepeak.errors import InputError


def column(*texts):
    return typed(pd.DataFrame({"x": texts}, dtype=object))["x"]


def test_numbers_in_any_notation_are_numbers():
    assert column("1", " -2.5 ", "1e3", "+4").tolist() == [1.0, -2.5, 1000.0, 4.0]


@pytest.mark.parametrize("missing", ["", "NA", "nan", "N/A", "null", "?"])
def test_what_stands_for_nothing_is_missing(missing):
    assert np.isnan(column("1", missing)[1])
    assert column("red", missing).tolist() == ["red", None]


def test_true_and_false_are_booleans():
    assert column("True", "FALSE").tolist() == [True, False]
    values = column("true", "", "false").tolist()
    assert values[0] == 1
    assert np.isnan(values[1])
    assert values[2] == 0


def test_numbers_with_few_levels_and_a_name_are_names():
    assert column("0", "1", "2", "3+").tolist() == ["0", "1", "2", "3+"]


def test_a_column_without_a_value_is_all_missing():
    assert column("", "NA").isna().all()


def test_columns_to_leave_alone_stay_text():
    frame = typed(pd.DataFrame({"label": ["01", "NA"], "x": ["01", "NA"]}, dtype=object), as_text=("label",))
    assert frame["label"].tolist() == ["01", "NA"]
    assert frame["x"][0] == 1


@pytest.mark.bad_input
def test_a_slip_in_a_column_of_numbers_is_no_category():
    with pytest.raises(InputError, match=r"The column 'x' is numbers but for 1 row: '12O' \(row 40\)"):
        column(*map(str, range(40)), "12O")


@pytest.mark.bad_input
def test_decimal_commas_are_refused():
    with pytest.raises(InputError, match="The column 'x' has numbers with a decimal comma, such as 1,5"):
        column("1,5", "2", "3,25")
