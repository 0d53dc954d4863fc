import numpy as np
import pandas as pd
import pytest

from onepeak.data.text_columns import typed


def column(*texts):
    frame, faults = typed(pd.DataFrame({"x": texts}, dtype=object))
    assert faults == ()
    return frame["x"]


def fault_of(*texts):
    frame, (fault,) = typed(pd.DataFrame({"x": texts, "y": range(len(texts))}, dtype=object))
    assert frame["x"].dtype == float
    assert frame["x"].iloc[list(fault.places)].isna().all()
    return fault


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
    frame, _ = typed(pd.DataFrame({"label": ["01", "NA"], "x": ["01", "NA"]}, dtype=object), as_text=("label",))
    assert frame["label"].tolist() == ["01", "NA"]
    assert frame["x"][0] == 1


def test_a_slip_in_a_column_of_numbers_is_a_fault_and_no_category():
    fault = fault_of(*map(str, range(40)), "12O", "", "x")
    assert fault.places == (40, 42)
    assert fault.sentence == "The column 'x' is numbers but for 2 rows: '12O' (row 40), 'x' (row 42)"


def test_of_many_slips_the_first_are_shown():
    fault = fault_of(*map(str, range(400)), *"abcdefghi")
    assert fault.sentence.endswith(
        "9 rows: 'a' (row 400), 'b' (row 401), 'c' (row 402), 'd' (row 403), 'e' (row 404) and 4 more"
    )


def test_a_few_decimal_commas_are_slips_of_their_rows():
    fault = fault_of(*["1"] * 20, "2,5")
    assert fault.places == (20,)
    assert "1 row: '2,5' (row 20)" in fault.sentence
    assert fault.advice == "Write numbers with a point, not with a comma"


def test_many_decimal_commas_are_a_fault_of_the_column():
    fault = fault_of("1,5", "2", "3,25")
    assert fault.places == ()
    assert fault.sentence == "The column 'x' has numbers with a decimal comma, such as 1,5"


def test_one_slip_among_nine_decimal_commas_does_not_either():
    fault = fault_of(*(f"{number},5" for number in range(9)), "n.d.")
    assert fault.sentence == "The column 'x' has numbers with a decimal comma, such as 0,5"


def test_a_slip_among_decimal_commas_does_not_hide_them():
    fault = fault_of("<0,5", *(f"{number},5" for number in range(30)), "n.d.", "7")
    assert fault.places == ()
    assert fault.sentence.endswith("such as 0,5")
