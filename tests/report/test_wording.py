import pytest

from onepeak.report.wording import p_text, spoken


@pytest.mark.parametrize(("p_value", "text"), [(0.0009, "p < 0.001"), (0.001, "p = 0.001"), (0.5, "p = 0.500")])
def test_p_values_read_as_journals_want_them(p_value, text):
    assert p_text(p_value) == text


def test_a_constraint_on_a_method_keeps_both_names():
    assert spoken("slopes+elb") == "slopes+ELB"
