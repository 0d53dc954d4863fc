import pytest

from onepeak.errors import InputError
from onepeak.serving.actions import read_actions

CLASSES = ("low", "high")


def test_actions_come_in_the_order_of_the_classes(tmp_path):
    path = tmp_path / "actions.csv"
    path.write_text('\ufeffaction,label\n"cut, then wait",high\nwait,low\n')
    assert read_actions(path, CLASSES) == ("wait", "cut, then wait")


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_are_read_too(tmp_path, separator):
    path = tmp_path / "actions.csv"
    path.write_text(f"label{separator}action\n\nlow{separator}wait, then look\nhigh{separator}cut\n")
    assert read_actions(path, CLASSES) == ("wait, then look", "cut")


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "actions.csv is empty"),
        ("label,action\nlow,wait, then look\nhigh,cut\n", "line 2 must have 2 fields, like the header, got 3"),
        ("label,what\nlow,a\n", "must have the columns label, action, got label, what"),
        (
            "label,action\nlow,a\nmiddle,b\n",
            "line 3: `label` must name each class once, got 'middle' which is not a class",
        ),
        ("label,action\nlow,a\nlow,b\n", "got 'low' twice"),
        ("label,action\nlow,a\nhigh,\n", "an action for every class, got none for high"),
    ],
)
def test_a_file_that_does_not_fit_is_told_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "actions.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_actions(path, CLASSES)


def test_without_a_file_there_are_no_actions():
    assert read_actions(None, CLASSES) == ()


@pytest.mark.bad_input
def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere.csv cannot be read: No such file"):
        read_actions(tmp_path / "nowhere.csv", CLASSES)
