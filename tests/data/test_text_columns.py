import numpy as np
import pandas as pd
import pytest

from onepeak.data.text_columns import fault_of_text, typed


def column(*texts, commas="never"):
    frame, faults, notes = typed(pd.DataFrame({"x": texts}, dtype=object), commas=commas)
    assert (faults, notes) == ((), ())
    return frame["x"]


def fault_of(*texts):
    frame, (fault,), _ = typed(pd.DataFrame({"x": texts, "y": [*map(str, range(len(texts)))]}, dtype=object))
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
    frame, *_ = typed(pd.DataFrame({"label": ["1", "NA"], "x": ["1", "NA"]}, dtype=object), as_text=("label",))
    assert frame["label"].tolist() == ["1", "NA"]
    assert frame["x"][0] == 1


def test_zeros_before_integers_show_that_all_are_names():
    assert column("10115", " 01067 ", "", "0").tolist() == ["10115", "01067", None, "0"]
    assert column(*map(str, range(38)), "007", "008", "x1")[40] == "x1"  # no slip in a number
    assert column("007", "1.5", "10").tolist() == [7, 1.5, 10]
    assert column("0", "0.5", "-03", "1e05").tolist() == [0, 0.5, -3, 1e5]


def test_one_zero_before_an_integer_of_many_is_a_slip_and_hides_no_other():
    assert column(*map(str, range(40)), "025")[40] == 25
    fault = fault_of(*map(str, range(40)), "007", "3O0")
    assert fault.places == (41,)
    assert fault.sentence == "The column 'x' has numbers except in 1 row: '3O0' (row 41)"


def test_a_slip_in_a_column_of_numbers_is_a_fault_and_no_category():
    fault = fault_of(*map(str, range(40)), "12O", "", "x")
    assert fault.places == (40, 42)
    assert fault.sentence == "The column 'x' has numbers except in 2 rows: '12O' (row 40), 'x' (row 42)"


def test_of_many_slips_the_first_are_shown():
    fault = fault_of(*map(str, range(400)), *"abcdefghi")
    assert fault.sentence.endswith(
        "9 rows: 'a' (row 400), 'b' (row 401), 'c' (row 402), 'd' (row 403), 'e' (row 404) and 4 more"
    )


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["1,5", "2", "3,25"], "'1,5' (row 0), '3,25' (row 2)"),
        (
            ["999.5", "1,234.50", "-2,000,000.25", "3,000"],
            "'1,234.50' (row 1), '-2,000,000.25' (row 2), '3,000' (row 3)",
        ),
        (["12%", "", "7.5 %", "0"], "'12%' (row 0), '7.5 %' (row 2)"),
        ([*map(str, range(99)), "1,234.5"], "'1,234.5' (row 99)"),
        ([*(f"{number},5" for number in range(9)), "n.d."], "'0,5' (row 0), "),
    ],
)
def test_formatted_numbers_are_a_fault_of_the_column(texts, shown):
    fault = fault_of(*texts)
    assert fault.places == ()  # to leave these rows out would leave small numbers
    assert fault.sentence.startswith(f"The column 'x' has formatted numbers: {shown}")


def test_ranges_and_other_texts_with_such_signs_are_names():
    assert column("0-10%", "10-20%", "1,2,3", "10.0.0.1").tolist() == ["0-10%", "10-20%", "1,2,3", "10.0.0.1"]


def test_decimal_commas_are_read_where_they_may_be_and_a_note_names_the_columns():
    texts = {
        "size": ["12,5", "1,234", ""],
        "age": ["40", "41", "42"],
        "name": ["a", "b", "1,5"],
        "dose": ["0,5", "7", "9"],
    }
    frame, faults, notes = typed(pd.DataFrame(texts, dtype=object), as_text=("dose",), commas="certain")
    assert faults == ()
    assert notes == ("read with decimal commas: size (12,5 is 12.5)",)
    assert frame["size"].tolist()[:2] == [12.5, 1.234]
    assert np.isnan(frame["size"][2])
    assert frame["name"].tolist() == ["a", "b", "1,5"]  # a name stays as it is written
    assert frame["dose"].tolist() == texts["dose"]


def test_a_slip_among_decimal_commas_is_that_of_its_row_where_they_may_be():
    texts = [*(f"{number},5" for number in range(30)), "3O,5"]
    _, (fault,), notes = typed(pd.DataFrame({"x": texts}, dtype=object), commas="certain")
    assert fault.places == (30,)
    assert fault.sentence == "The column 'x' has numbers except in 1 row: '3O,5' (row 30)"
    assert notes == ("read with decimal commas: x (0,5 is 0.5)",)


@pytest.mark.parametrize(
    "texts", [["1,234", "20,000", "999"], ["12,5", "12.5", "7,5"], ["12,5", "1.234,50"], ["12,5 %", "7,5"]]
)
def test_what_is_not_certain_is_refused_as_ever(texts):
    _, (fault,), _ = typed(pd.DataFrame({"x": texts}, dtype=object), commas="certain")
    assert fault.places == ()
    assert fault.sentence.startswith(f"The column 'x' has formatted numbers: '{texts[0]}' (row 0)")


def test_names_with_commas_stay_names():
    texts = ("1,2,3", "1,2", "3", "2,3")
    assert column(*texts, commas="certain").tolist() == list(texts)


@pytest.mark.parametrize(
    "texts", [["1,234", "20,000"], ["12%", "7.5 %"], ["1,234.50", "9"], ["1,5", "2"], ["a", "b"], ["01067", "1,234"]]
)
def test_text_of_a_frame_is_told_of_in_the_words_for_a_file(texts):
    cells = pd.Series(texts, name="x")
    _, faults, _ = typed(pd.DataFrame({"x": cells.astype(object)}))
    fault = fault_of_text(cells, texts)
    assert (() if fault is None else (fault,)) == faults
