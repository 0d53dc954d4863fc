import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data.order import classes_file, declared_order, label_key, order_labels, read_labels
from onepeak.errors import InputError


@pytest.mark.parametrize(
    ("labels", "order", "positions", "classes", "note"),
    [
        (["normal", "invasive"], "normal,benign,invasive", [0, 2], None, "1 class of the order without a sample: ben"),
        (["10", "9", "-2"], None, [2, 1, 0], ("-2", "9", "10"), "integers between the labels without a sample are not"),
        ([3.0, np.float32(1), "2.0", np.int8(3), "1."], None, [2, 0, 1, 2, 0], ("1", "2", "3"), None),
        ([1, 2, 5], None, [0, 1, 2], ("1", "2", "5"), "are not classes (3, 4); --order 1..5 keeps them"),
        ([1, 2, 5], "0..5", [1, 2, 5], tuple("012345"), "3 classes of the order without a sample: 0, 3, 4"),
        (["01", "02"], "0..2", [1, 2], ("0", "1", "2"), None),
        (["NA", "low"], "NA,low", [0, 1], None, None),  # a name, because the order has it
        (["None", "low"], "None,low", [0, 1], None, None),
        ([0, 69], "0..69", [0, 69], None, "order: 0 < 1 < 2 < ... < 69 (70 classes)"),
        (range(20), None, list(range(20)), None, "20 different integers in 20 samples: are they classes?"),
        ([0, 10**12], None, [0, 1], None, "are not classes (999,999,999,999 of them)"),
    ],
)
def test_labels_become_positions_in_their_order(labels, order, positions, classes, note):
    ordered = order_labels(labels, order=order)
    assert ordered.labels.tolist() == positions
    assert classes is None or ordered.classes == classes
    assert note is None or any(note in each for each in ordered.notes)


def test_the_file_of_an_order_is_named(write):
    path = write("classes.txt", "low\nhigh\n")
    assert order_labels(["low", "high"], order=path).notes == ("order from classes.txt: low < high",)
    with pytest.raises(InputError, match=r"The order in classes.txt must name every label of the data, it lacks 'top'"):
        order_labels(["low", "top"], order=path)


@given(st.lists(st.integers(-50, 50), min_size=2).filter(lambda labels: len(set(labels)) > 1), st.randoms())
def test_the_sequence_of_samples_changes_only_the_sequence_of_labels(labels, random):
    shuffled = list(range(len(labels)))
    random.shuffle(shuffled)
    ordered, other = order_labels(labels), order_labels([labels[index] for index in shuffled])
    assert ordered.classes == other.classes
    assert ordered.labels[shuffled].tolist() == other.labels.tolist()


@given(st.lists(st.sampled_from(["a", "b", "c d", "7"]), min_size=1), st.permutations(["a", "b", "c d", "7"]))
def test_a_label_is_the_position_of_its_name(labels, order):
    ordered = order_labels(labels, order=order)
    assert [ordered.classes[label] for label in ordered.labels] == labels


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("labels", "order", "message"),
    [
        (
            ["low", "high", "low"],
            None,
            r"guessed\. Found, .*: 'high' \(1\), 'low' \(2\)\. Give `order` \(--order .*txt",
        ),
        ([1, 2, "3+"], None, r"'1' \(1\), '2' \(1\), '3\+' \(1\)"),
        ([True, False], None, "never guessed.*'False'"),
        (["a", "a"], None, r"There must be at least 2 classes, all 2 samples have the label 'a' \(2\)"),
        ([], None, "There are no samples"),
        ([None, float("nan")], None, "There are no labels"),
        (["NA", "1"], None, "1 sample of 2 has none"),
        ([1, None, 2, float("nan"), " "], None, "3 samples of 5 have none. Fill them in"),
        (["01", "1", "2"], None, "same integer must be written alike, got '01' and '1'"),
        (["a"], "01,1", "`order` must name each class once, got 01, 1 more than once"),
        (["In Situ", "benign"], "benign,insitu", r"it lacks 'In Situ' \(1 sample; did you mean 'insitu'\?\)"),
        (["low", "lower"], "low,high", r"it lacks 'lower' \(1 sample\)\."),
        (["x", "x", "a"], "a,b", r"it lacks 'x' \(2 samples\). It names a, b"),
        ([1, 2, 70], "0..69", r"it lacks '70' \(1 sample\)"),
        (["5", "6", "7"], "5,6,7+", r"it lacks '7' \(1 sample; did you mean '7\+'\?\)"),
        (["++", "low"], "--,low", r"it lacks '\+\+' \(1 sample\)"),  # names of signs alone are not alike
        (["a", "9" * 5000], None, "The order of the labels is not known"),
    ],
)
def test_labels_outside_their_order_are_refused(labels, order, message):
    with pytest.raises(InputError, match=message):
        order_labels(labels, order=order)


@pytest.mark.bad_input
def test_messages_use_the_names_of_the_caller():
    with pytest.raises(InputError, match="1 sample of 3 has none: row 7"):
        order_labels([1, 2, None], rows=[5, 6, 7])
    with pytest.raises(InputError, match="`classes` must name at least 2"):
        declared_order(["a"], argument="classes")


def test_faults_have_the_positions_of_their_samples():
    ordered, (missing, unnamed) = read_labels(["a", None, "C", "NA", "b", "x", "C"], order="a,b,c", rows=range(10, 17))
    assert ordered.labels.tolist() == [0, -1, -1, -1, 1, -1, -1]
    assert (missing.indices, unnamed.indices) == ((1, 3), (2, 5, 6))
    assert missing.sentence == "Every sample must have a label, 2 samples of 7 have none: rows 11, 13"
    assert "it lacks 'C' (2 samples, rows 12, 16; did you mean 'c'?), 'x' (1 sample, row 15). It" in unnamed.sentence
    assert unnamed.reason == "a label that the order lacks, 'C', 'x'"
    ordered, (missing, unknown) = read_labels(["low", None, "high"], rows=[2, 3, 4])  # no order at all
    assert (ordered, missing.indices, unknown.indices) == (None, (1,), ())
    _, (fault,) = read_labels(["", None], order="a,b", rows=[2, 3])
    assert (fault.indices, fault.sentence) == ((0, 1), "There are no labels: every one is missing")


@pytest.mark.parametrize(
    ("labels", "shifted"),
    [
        ([1, 2, 3, 4, 5], True),
        (["1", None, "5.0"], True),
        ([-1, 0, 3], True),
        ([0, 5], False),
        ([1, 6], False),
        ([-1, 5], False),
        ([1, 5, "x"], False),
    ],
)
def test_integers_that_are_shifted_by_one_are_no_fault_of_their_rows(labels, shifted):
    fault = read_labels(labels, order="0..4")[1][-1]
    assert (fault.indices == ()) == shifted
    assert fault.advice.startswith("Are the labels shifted by one?" if shifted else "Correct these labels")


@pytest.mark.parametrize(
    ("order", "names"),
    [
        (" low ,in situ, high ", ("low", "in situ", "high")),
        ("0..69", tuple(str(age) for age in range(70))),
        ("-1..1", ("-1", "0", "1")),
        (["b", "a"], ("b", "a")),
        (range(3), ("0", "1", "2")),
    ],
)
def test_an_order_has_several_forms(order, names):
    assert declared_order(order) == names


def test_an_order_may_be_a_file(write, tmp_path):
    path = write("order.txt", "\ufefflow, really\n\n  high\n")  # blank lines and a byte-order mark do not count
    assert declared_order(path) == declared_order(str(path)) == ("low, really", "high")
    assert declared_order(write("range.txt", "18..20\n")) == ("18", "19", "20")
    assert classes_file(tmp_path) is None
    path = write("classes.txt", "alone\n")
    assert classes_file(tmp_path) == path
    with pytest.raises(InputError, match=r"classes.txt must name at least 2 classes, .* got 1"):
        declared_order(path)


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
def test_wrong_orders_are_refused(order, message):
    with pytest.raises(InputError, match=message):
        declared_order(order)


def test_spellings_of_an_integer_are_one_label():
    for name in ("7", "7.", "7.00", "07", "+7"):
        assert label_key(name) == 7
        assert order_labels([name, "0"], order="0..9").labels.tolist() == [7, 0]  # as labels of data are read
    assert label_key("-7.0") == -7
    for name in ("7.5", "7e0", "1,000", "grade 7", "", "-", "1" * 19, "9" * 5000):
        assert label_key(name) == name


def test_control_characters_of_names_are_written_out():
    ordered = order_labels(["\x1b[31mlow", "high\u202e"], order="\x1b[31mlow,high\u202e")
    assert ordered.classes == ("\\x1b[31mlow", "high\\u202e")
    assert ordered.labels.tolist() == [0, 1]
