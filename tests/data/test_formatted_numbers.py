import pandas as pd

from onepeak.data.formatted_numbers import are_commas, formatted_fault


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


def test_only_of_a_file_it_can_be_said_what_a_comma_is():
    assert "--decimal" in fault_of("1,234").advice
    assert "--decimal" not in fault_of("1,234", in_file=False).advice


def test_a_narrow_space_before_the_sign_is_one():
    assert fault_of("12\u202f%").advice.startswith("Write 12 for 12\u202f%")


def test_commas_are_those_of_decimals_also_before_an_exponent():
    assert are_commas({0: "1,5", 1: "1,5E+03"})
    assert not are_commas({0: "1,5", 1: "1,2,3"})
