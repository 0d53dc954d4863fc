import pandas as pd
import pytest

from onepeak.data.written_numbers import columns_with_points, formatted_fault, is_formatted, with_points


@pytest.mark.parametrize("proof", ["12,5", "0,125", "1234,567", "-1,2345", "1,234E+03", "+0,1"])
def test_one_cell_that_is_no_thousands_shows_what_the_others_are(proof):
    assert with_points(["1,234"], commas="certain") is None
    assert with_points(["1,234", proof], commas="certain") == ["1.234", proof.replace(",", ".")]


@pytest.mark.parametrize("other", ["1.5", "1.234,50", "1,234,567", "1,234.5", "1.5e3"])
def test_a_number_with_a_point_or_two_commas_leaves_in_doubt_what_a_comma_is(other):
    for commas in ("certain", "always"):
        assert with_points(["12,5", other], commas=commas) is None


def test_what_is_no_number_says_nothing_of_the_commas():
    texts = ["12,5", "a.b", "v1.2", "12.5 kg", "", "n/a"]
    assert with_points(texts, commas="certain") == ["12.5", *texts[1:]]


def test_spaces_around_a_number_do_not_count():
    assert with_points([" 12,5", "7 "], commas="certain") == ["12.5", "7"]


def test_where_commas_stand_between_cells_they_are_not_decimal():
    assert with_points(["12,5"], commas="never") is None
    assert with_points(["12", "7.5"], commas="always") is None  # there is none


def test_of_a_table_only_columns_of_numbers_are_read_so():
    frame = pd.DataFrame({"size": ["12,5", "x"], "code": ["1,5", "2,5"], "age": ["1,234", "7"]})
    read, notes = columns_with_points(frame, ["size", "age", "gone"], commas="certain")
    assert read.to_dict("list") == {"size": ["12.5", "x"], "code": ["1,5", "2,5"], "age": ["1,234", "7"]}
    assert notes == ("read with decimal commas: size (12,5 is 12.5)",)
    assert frame["size"][0] == "12,5"  # what was given is left as it is
    read, notes = columns_with_points(frame, ["size", "age"], commas="always")
    assert read["age"].tolist() == ["1.234", "7"]
    assert notes == ("read with decimal commas: size, age (12,5 is 12.5)",)


@pytest.mark.parametrize(
    "text",
    ["1,234", "1,234.50", "-2,000,000.25", "1.234,50", "1.234.567", "12%", "7.5 %", "12\u202f%", "0,84", "1,5E+03"],
)
def test_numbers_for_people_are_formatted(text):
    assert is_formatted(text)


@pytest.mark.parametrize("text", ["12", "12.5", "1e3", "0-10%", "1,2,3", "10.0.0.1", "n.d.", "3+", ""])
def test_plain_numbers_and_names_are_not(text):
    assert not is_formatted(text)


def test_nearly_all_that_are_no_numbers_must_be_formatted():
    cells = pd.Series(["7", *["12 %"] * 9, "n.d."], name="x")
    wrong = {place: text for place, text in cells.items() if place}
    fault = formatted_fault(cells, wrong)
    assert fault.places == ()  # to leave these rows out would leave small numbers
    assert fault.sentence.startswith("The column 'x' has formatted numbers: '12 %' (row 1), '12 %' (row 2),")
    assert fault.advice == (
        "Write numbers as 1234.5, or give --decimal , (`decimal`) for a CSV with decimal commas, or say "
        "with `category` (--category) that they are names"
    )
    del wrong[1]
    assert formatted_fault(cells, wrong) is None
    assert formatted_fault(cells, {}) is None
