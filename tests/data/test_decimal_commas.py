import pandas as pd
import pytest

from onepeak.data.decimal_commas import are_decimal_if_said, columns_with_points, with_points


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


def test_to_say_that_commas_are_decimal_helps_where_none_may_be_anything_else():
    assert are_decimal_if_said(["1,234", None, "n.d."])
    assert not are_decimal_if_said(["1,234", "1.5"])
    assert not are_decimal_if_said([1.5, "n.d."])


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
