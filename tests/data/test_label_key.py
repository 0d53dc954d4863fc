import pytest

from onepeak.data.label_key import label_key, letters
from onepeak.data.order import order_labels


@pytest.mark.parametrize("name", ["7", "7.", "7.00", "07", "+7"])
def test_spellings_of_an_integer_are_one_label(name):
    assert label_key(name) == 7
    assert order_labels([name, "0"], order="0..9").labels.tolist() == [7, 0]  # as labels of data are read


@pytest.mark.parametrize(
    "name", ["7.5", "7e0", "1,000", "grade 7", "", "-", "1" * 19, "9" * 5000], ids=lambda s: s[:20]
)
def test_anything_else_is_its_own_text(name):
    assert label_key(name) == name


def test_a_sign_counts():
    assert label_key("-7.0") == -7


def test_names_are_alike_but_for_case_spaces_and_signs():
    assert letters("In Situ") == letters("in_situ") == letters("InSitu") == "insitu"
    assert letters("grade 2") != letters("grade 3")
    assert letters("++") == ""
