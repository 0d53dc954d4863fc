import pytest

from onepeak.data.unnamed_labels import meant, unnamed_labels, without_item


def fault_of(*texts, classes=("low", "high"), given="`order`", may_grow=True):
    return unnamed_labels(dict(enumerate(texts)), classes, given=given, may_grow=may_grow)


def test_labels_that_are_all_classes_are_no_fault():
    assert fault_of("low", "high", "low") is None


@pytest.mark.parametrize(
    ("given", "to"), [("`order`", "`order` (--order)"), ("The order in classes.txt", "the order in classes.txt")]
)
def test_a_label_of_five_rows_is_to_be_added_to_the_order(given, to):
    fault = fault_of("low", *["very poor"] * 5, "odd", given=given)
    assert fault.sentence.startswith(f"{given} must name every label of the data, it lacks 'odd' (1 item), 'very poor'")
    assert fault.advice == f"Add 'very poor' to {to} in the right place, or correct these cells"
    assert fault.plain
    assert fault.note == "all rows labelled 'very poor' (5) are left out: the order has no such class"


def test_one_of_four_rows_may_be_a_slip():
    fault = fault_of("low", *["very poor"] * 4)
    assert (fault.advice, fault.plain, fault.note) == ("", False, "")


def test_of_several_each_is_named_with_its_rows():
    fault = fault_of("low", *["unknown"] * 6, *["awful"] * 1200)
    assert fault.advice.startswith("Add 'awful', 'unknown' to ")
    assert fault.note.startswith("all rows labelled 'awful' (1,200), 'unknown' (6) are left out")


def test_to_an_order_that_cannot_grow_nothing_is_to_be_added():
    """That of a trained model, of which rows with other labels may well be left out."""
    fault = fault_of("low", *["very poor"] * 5, may_grow=False)
    assert (fault.advice, fault.plain) == ("", False)
    assert "'very poor' (5)" in fault.note


def test_another_writing_of_a_class_is_no_other_class():
    fault = fault_of("low", *["LOW"] * 7, *["hihg"] * 5)
    assert (
        "'LOW' (7 items; differs from 'low' only in case), 'hihg' (5 items; is 'high' meant for it?)" in fault.sentence
    )
    assert fault.advice == "Write them alike"
    assert fault.note.startswith("all rows labelled 'LOW' (7), 'hihg' (5) are left out")
    both = fault_of(*["LOW"] * 7, *["very poor"] * 5)
    assert both.advice.startswith("Write them alike. Add 'very poor' to ")


def test_an_integer_may_be_a_word_but_no_other_integer():
    assert meant("12", ["1", "2"]) is None
    assert meant("grade-2", ["1", "grade 2"]) == "grade 2"


def test_a_class_is_used_however_its_number_is_written():
    assert without_item(["1", "2", "3"], ["1.0", "03"]) == ["2"]
