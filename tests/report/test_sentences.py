from dataclasses import replace

import numpy as np
import pytest

from onepeak.methods.catalog import METHODS
from onepeak.report.sentences import display_name, never_predicted_sentence, p_text


@pytest.mark.parametrize(("p_value", "text"), [(0.0009, "p < 0.001"), (0.001, "p = 0.001"), (0.5, "p = 0.500")])
def test_p_values_read_as_journals_want_them(p_value, text):
    assert p_text(p_value) == text


def test_a_constraint_on_a_method_keeps_both_names():
    assert display_name("slopes+elb") == "slopes+ELB"


def test_names_that_are_not_the_catalogs_stay_as_they_are():
    METHODS.add(replace(METHODS["ce"], name="abc"))
    try:
        assert [display_name(each) for each in ("cum-focal", "abc", "abc+elb", "mine", "or-cnn", "ce-mine")] == [
            "cum-focal", "abc", "abc+ELB", "mine", "or-cnn", "CE-mine",
        ]  # fmt: skip
    finally:
        del METHODS._records["abc"]


def test_classes_that_samples_have_and_no_answer_is_are_named_with_their_number():
    confusion = np.zeros((8, 8), dtype=np.int64)
    confusion[:7, 0] = [9, 1, 2, 3, 4, 5, 6]  # of the last class there is no sample
    assert never_predicted_sentence(confusion, "abcdefgh") == (
        "Never predicted: b (1 sample), c (2 samples), d (3 samples), e (4 samples), f (5 samples) and 1 more."
    )
    assert never_predicted_sentence(np.eye(3, dtype=np.int64), "abc") == ""
