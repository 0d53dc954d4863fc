import re

import numpy as np
import pandas as pd
import pytest

from onepeak.data.formatted_numbers import are_commas, formatted_fault
from onepeak.data.frame import from_frame
from onepeak.errors import InputError


def fault_of(*texts, few=False, in_file=True):
    return formatted_fault(pd.Series(texts, name="x"), dict(enumerate(texts)), few=few, in_file=in_file)


def test_nothing_wrong_is_no_fault():
    assert fault_of() is None


def test_nearly_all_must_be_formatted():
    assert fault_of(*["12 %"] * 9, "n.d.").sentence.startswith(
        "The column 'x' has numbers with a per cent sign: '12 %'"
    )
    assert fault_of(*["12 %"] * 8, "n.d.") is None


def test_few_commas_and_signs_of_per_cent_may_be_slips_but_separators_of_thousands_are_not():
    assert fault_of("12 %", few=True) is None
    assert fault_of("12,5", few=True) is None
    assert fault_of("1,234", few=True).advice.startswith("Write 1234 for 1,234 if it separates thousands, else 1.234")
    assert fault_of("1,234.5", few=True).advice.startswith("Write 1234.5 for 1,234.5, or say with `category`")


@pytest.mark.parametrize("text", ["1,234", "0,84"])
def test_only_of_a_file_it_can_be_said_what_a_comma_is(text):
    assert ", or say with --decimal , (`decimal`) that the comma is decimal, or" in fault_of(text).advice
    assert "--decimal" not in fault_of(text, in_file=False).advice


def test_it_is_not_to_be_said_where_it_would_not_help():
    mixed = pd.Series(["12,5", "7.5"], name="x")
    advice = formatted_fault(mixed, {0: "12,5"}, few=False, in_file=True).advice
    assert advice == "Write them with a point, or say with `category` (--category) that they are names"


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["7,76", "8", None, "-0,5"], [7.76, 8, np.nan, -0.5]),
        (["1,234.50", "999", "2,000,000"], [1234.5, 999, 2_000_000]),
        (["1.234.567", "1.234,50", "12,5"], [1_234_567, 1234.5, 12.5]),
        (["5 %", "7,5%", "12\u202f% ", "3"], [5, 7.5, 12, 3]),
        (["5%", "7.5%"], [5, 7.5]),
    ],
)
def test_text_of_a_frame_becomes_numbers_by_the_call_that_is_advised(texts, numbers):
    frame = pd.DataFrame({"x": texts, "label": [place % 2 for place in range(len(texts))]})
    with pytest.raises(InputError) as error:
        from_frame(frame)
    (call,) = re.findall(r"Make it a column of numbers with (pandas\.to_numeric\(.*\)), or say with", str(error.value))
    frame["x"] = eval(call, {"pandas": pd, "frame": frame})
    np.testing.assert_array_equal(from_frame(frame).items.values[:, 0], numbers)


def test_both_readings_of_a_comma_have_their_call():
    calls = re.findall(r"pandas\.to_numeric\(.*?\)\)", fault_of("1,234", in_file=False).advice)
    frame = pd.DataFrame({"x": ["1,234"]})
    assert [eval(call, {"pandas": pd, "frame": frame}).tolist() for call in calls] == [[1234], [1.234]]


def test_a_narrow_space_before_the_sign_is_one():
    assert fault_of("12\u202f%").advice.startswith("Write 12 for 12\u202f%")


def test_commas_are_those_of_decimals_also_before_an_exponent():
    assert are_commas({0: "1,5", 1: "1,5E+03"})
    assert not are_commas({0: "1,5", 1: "1,2,3"})
