from dataclasses import replace

import pytest

from onepeak.methods.catalog import METHODS
from onepeak.report.sentences import display_name, p_text


@pytest.mark.parametrize(("p_value", "text"), [(0.0009, "p < 0.001"), (0.001, "p = 0.001"), (0.5, "p = 0.500")])
def test_p_values_read_as_journals_want_them(p_value, text):
    assert p_text(p_value) == text


def test_names_that_are_not_the_catalogs_stay_as_they_are():
    METHODS.add(replace(METHODS["ce"], name="abc"))
    try:
        assert [display_name(each) for each in ("cum-focal", "abc", "abc+elb", "mine", "or-cnn", "ce-mine")] == [
            "cum-focal", "abc", "abc+ELB", "mine", "or-cnn", "CE-mine",
        ]  # fmt: skip
    finally:
        del METHODS._records["abc"]
