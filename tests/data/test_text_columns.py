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
    assert column(*map(str, range(1000, 1100)), "0999", "x1")[101] == "x1"  # all of one width
    assert column("007", "1.5", "10").tolist() == [7, 1.5, 10]
    assert column("0", "0.5", "-03", "1e05").tolist() == [0, 0.5, -3, 1e5]


def test_one_zero_before_an_integer_of_many_is_a_slip_and_hides_no_other():
    assert column(*map(str, range(40)), "025")[40] == 25
    fault = fault_of(*map(str, range(40)), "007", "3O0")
    assert fault.places == (41,)
    assert fault.sentence == "The column 'x' is numbers but for 1 row: '3O0' (row 41)"


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
    assert fault.advice == (
        "Write numbers with a point, not with a comma, or say with --decimal , (`decimal`) that the comma is decimal"
    )
    assert fault_of(*["1.5"] * 20, "2,5").advice == "Write numbers with a point, not with a comma"


def test_many_decimal_commas_are_a_fault_of_the_column():
    fault = fault_of("1,5", "2", "3,25")
    assert fault.places == ()
    assert fault.sentence == "The column 'x' has numbers with a decimal comma, such as 1,5"


@pytest.mark.parametrize(
    ("texts", "told", "advice"),
    [
        (
            ["999.5", "1,234.50", "-2,000,000.25", "3,000"],
            "separators of thousands: '1,234.50' (row 1), '-2,000,000.25' (row 2), '3,000' (row 3)",
            "Write 1234.50 for 1,234.50",
        ),
        (["12,50", "1.234,50", "n.d."] + ["7,5"] * 9, "separators of thousands: '1.234,50' (row 1)", "Write 1234.50 "),
        (["1", "1.234.567"], "separators of thousands: '1.234.567' (row 1)", "Write 1234567 for 1.234.567"),
        (
            ["1,234", "20,000", "999"],
            "a comma: '1,234' (row 0), '20,000' (row 1)",
            "Write 1234 for 1,234 if it separates thousands, else 1.234, or say with --decimal , (`decimal`)",
        ),
        (
            ["12%", "", "7.5 %", "12,5%", "0"],
            "a per cent sign: '12%' (row 0), '7.5 %' (row 2)",
            "Write 12 for 12%,",
        ),
        (["12,5%"], "a per cent sign: '12,5%' (row 0)", "Write 12.5 for 12,5%"),
        ([*map(str, range(99)), "1,234.5"], "separators of thousands: '1,234.5' (row 99)", "Write 1234.5 for 1,234.5"),
    ],
)
def test_numbers_with_separators_or_per_cent_are_a_fault_of_the_column(texts, told, advice):
    fault = fault_of(*texts)
    assert fault.places == ()  # to leave these rows out would leave small numbers
    assert fault.sentence.startswith(f"The column 'x' has numbers with {told}")
    assert fault.advice.startswith(advice)
    assert fault.advice.endswith(", or say with `category` (--category) that they are names")  # as codes 1.100.200 are


def test_a_comma_that_separates_no_thousands_shows_what_the_others_are():
    for proof in ("1,5", "0,125", "1234,567"):
        assert fault_of("1,234", proof).sentence == "The column 'x' has numbers with a decimal comma, such as 1,234"


def test_a_few_signs_of_per_cent_are_slips_of_their_rows():
    assert fault_of(*map(str, range(40)), "12%").places == (40,)


def test_ranges_and_other_texts_with_such_signs_are_names():
    assert column("0-10%", "10-20%", "1,2,3", "10.0.0.1").tolist() == ["0-10%", "10-20%", "1,2,3", "10.0.0.1"]


def test_one_slip_among_nine_decimal_commas_does_not_either():
    fault = fault_of(*(f"{number},5" for number in range(9)), "n.d.")
    assert fault.sentence == "The column 'x' has numbers with a decimal comma, such as 0,5"


def test_a_slip_among_decimal_commas_does_not_hide_them():
    fault = fault_of("<0,5", *(f"{number},5" for number in range(30)), "n.d.", "7")
    assert fault.places == ()
    assert fault.sentence.endswith("such as 0,5")


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
    assert fault.sentence == "The column 'x' is numbers but for 1 row: '3O,5' (row 30)"
    assert notes == ("read with decimal commas: x (0,5 is 0.5)",)


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["1,234", "20,000", "999"], "a comma: '1,234' (row 0), '20,000' (row 1)"),
        (["12,5", "12.5", "7,5"], "a decimal comma, such as 12,5"),  # which of them is the decimal sign?
        (["12,5", "1.234,50"], "separators of thousands: '1.234,50' (row 1)"),
        (["12,5 %", "7,5"], "a per cent sign: '12,5 %' (row 0)"),
    ],
)
def test_what_is_not_certain_is_refused_as_ever(texts, told):
    _, (fault,), _ = typed(pd.DataFrame({"x": texts}, dtype=object), commas="certain")
    assert fault.places == ()
    assert fault.sentence == f"The column 'x' has numbers with {told}"


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
    assert (() if fault is None else (fault.sentence,)) == tuple(each.sentence for each in faults)
    assert fault is None or "--decimal" not in fault.advice  # which is for a file
