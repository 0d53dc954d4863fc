import pytest

from onepeak.data.declared_order import classes_file, declared_order
from onepeak.errors import InputError


def test_spaces_around_names_do_not_count():
    assert declared_order(" low ,in situ, high ") == ("low", "in situ", "high")


def test_a_range_includes_both_ends():
    assert declared_order("0..69") == tuple(str(age) for age in range(70))
    assert declared_order("-1..1") == ("-1", "0", "1")


def test_sequences_and_ranges_are_taken_as_they_are():
    assert declared_order(["b", "a"]) == ("b", "a")
    assert declared_order(range(3)) == ("0", "1", "2")


def test_a_file_has_one_name_a_line_and_blank_lines_do_not_count(write):
    path = write("order.txt", "low, really\n\n  high\n")
    assert declared_order(path) == declared_order(str(path)) == ("low, really", "high")


def test_a_file_may_hold_a_range(write):
    assert declared_order(write("order.txt", "18..20\n")) == ("18", "19", "20")


def test_a_file_may_begin_with_a_byte_order_mark(write):
    assert declared_order(write("order.txt", "\ufefflow\nhigh\n")) == ("low", "high")


def test_the_file_beside_the_data_is_found(write, tmp_path):
    assert classes_file(tmp_path) is None
    path = write("classes.txt", "a\nb\n")
    assert classes_file(tmp_path) == path


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("low mid high", "lowest first, got low mid high: write low,mid,high"),
        ("one", "`order` must name at least 2 classes, lowest first, got one"),
        ([], "`order` must name at least 2 classes, lowest first, got none"),
        ("a,,b", "`order` must not have an empty name, got 'a', '', 'b'"),
        ("a,b,a", "`order` must name each class once, got a more than once"),
        ("9..1", r"`order` must be an ascending range .* got 9..1. Did you mean 1..9\?"),
        ("0..100000000", "must be an ascending range of at most 100,000 integers"),
        ({"a", "b"}, "`order` must be a sequence, lowest first, got a set"),
        ("nowhere/classes.txt", "There is no file nowhere/classes.txt to read the order"),
    ],
)
def test_what_is_no_order_is_refused(order, message):
    with pytest.raises(InputError, match=message):
        declared_order(order)


@pytest.mark.bad_input
def test_a_file_with_one_name_is_refused(write):
    with pytest.raises(
        InputError, match=r"classes.txt must name at least 2 classes, one per line, lowest first, got 1"
    ):
        declared_order(write("classes.txt", "alone\n"))


@pytest.mark.bad_input
def test_the_message_calls_the_argument_as_the_user_does():
    with pytest.raises(InputError, match="`classes` must name at least 2"):
        declared_order(["a"], argument="classes")
