import pytest

from onepeak.data.label_key import label_key


@pytest.mark.parametrize("name", ["7", "7.", "7.00", "07", "+7"])
def test_spellings_of_an_integer_are_one_label(name):
    assert label_key(name) == 7


@pytest.mark.parametrize("name", ["7.5", "7e0", "1,000", "grade 7", "", "-"])
def test_anything_else_is_its_own_text(name):
    assert label_key(name) == name


def test_a_sign_counts():
    assert label_key("-7.0") == -7
