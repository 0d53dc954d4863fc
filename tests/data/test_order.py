import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data.order import classes_file, declared_order, label_key, letters, order_labels, read_labels
from onepeak.errors import InputError


def test_names_take_the_order_given_not_the_alphabet():
    ordered = order_labels(["normal", "invasive", "benign"], order="normal,benign,invasive")
    assert ordered.labels.tolist() == [0, 2, 1]
    assert ordered.notes == ("order: normal < benign < invasive",)


def test_integers_order_themselves_as_numbers():
    ordered = order_labels(["10", "9", "-2"])
    assert ordered.classes == ("-2", "9", "10")
    assert ordered.labels.tolist() == [2, 1, 0]


def test_whole_floats_are_integers():
    assert order_labels([3.0, np.float32(1), "2.0", np.int8(3), "1."]).labels.tolist() == [2, 0, 1, 2, 0]


def test_integers_no_item_has_are_no_classes_and_the_note_says_how_to_keep_them():
    ordered = order_labels([1, 2, 5])
    assert ordered.classes == ("1", "2", "5")
    assert ordered.notes[1] == (
        "integers between the labels without a sample are not classes (3, 4); --order 1..5 keeps them"
    )


def test_a_declared_range_keeps_its_gaps_and_says_so():
    ordered = order_labels([1, 2, 5], order="0..5")
    assert ordered.classes == ("0", "1", "2", "3", "4", "5")
    assert ordered.labels.tolist() == [1, 2, 5]
    assert ordered.notes[1] == "3 classes of the order without a sample: 0, 3, 4"


def test_integers_match_the_order_whatever_their_zeros():
    assert order_labels(["01", "02"], order="0..2").labels.tolist() == [1, 2]


def test_names_without_an_item_stay_classes():
    ordered = order_labels(["mild"] * 3, order="none,mild,severe")
    assert ordered.classes == ("none", "mild", "severe")
    assert ordered.notes[1] == "2 classes of the order without a sample: none, severe"


def test_a_label_called_na_is_missing_unless_the_order_names_it():
    assert order_labels(["NA", "low"], order="NA,low").labels.tolist() == [0, 1]
    with pytest.raises(InputError, match="1 sample of 2 has none"):
        order_labels(["NA", "1"])


def test_a_label_called_none_is_a_name():
    assert order_labels(["None", "low"], order="None,low").labels.tolist() == [0, 1]


def test_the_order_of_many_classes_is_shown_by_its_ends():
    assert order_labels([0, 69], order="0..69").notes[0] == "order: 0 < 1 < 2 < ... < 69 (70 classes)"


def test_the_file_an_order_comes_from_is_named(write):
    path = write("classes.txt", "low\nhigh\n")
    assert order_labels(["low", "high"], order=path).notes == ("order from classes.txt: low < high",)
    with pytest.raises(InputError, match=r"The order in classes.txt must name every label of the data, it lacks 'top'"):
        order_labels(["low", "top"], order=path)


def test_a_number_an_item_is_suspicious():
    assert "20 different integers in 20 samples: are they classes?" in order_labels(range(20)).notes


def test_integers_far_apart_are_not_listed():
    assert "are not classes (999,999,999,999 of them)" in order_labels([0, 10**12]).notes[1]


@given(st.lists(st.integers(-50, 50), min_size=2).filter(lambda found: len(set(found)) > 1), st.randoms())
def test_the_sequence_of_items_changes_nothing_but_the_sequence_of_labels(found, random):
    shuffled = list(range(len(found)))
    random.shuffle(shuffled)
    ordered, other = order_labels(found), order_labels([found[index] for index in shuffled])
    assert ordered.classes == other.classes
    assert ordered.labels[shuffled].tolist() == other.labels.tolist()


@given(st.lists(st.sampled_from(["a", "b", "c d", "7"]), min_size=1), st.permutations(["a", "b", "c d", "7"]))
def test_a_label_is_the_position_of_its_name(found, order):
    ordered = order_labels(found, order=order)
    assert [ordered.classes[label] for label in ordered.labels] == found


@pytest.mark.bad_input
def test_names_without_an_order_are_never_guessed():
    with pytest.raises(InputError) as caught:
        order_labels(["low", "high", "low"])
    assert str(caught.value) == (
        "The order of the labels is not known and is never guessed. Found, with the number of samples: 'high' (1), "
        "'low' (2). Give `order` (--order LOWEST,...,HIGHEST, or one name per line in classes.txt), lowest first."
    )


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("found", "order", "message"),
    [
        ([1, 2, "3+"], None, r"never guessed. Found, with the number of samples: '1' \(1\), '2' \(1\), '3\+' \(1\)"),
        ([True, False], None, "never guessed.*'False'"),
        ([1.5, 2.5], None, "never guessed.*'1.5'"),
        (["a", "a"], None, r"There must be at least 2 classes, all 2 samples have the label 'a' \(2\)"),
        ([], None, "There are no samples"),
        ([None, float("nan")], None, "There are no labels: every one is missing"),
        ([1, None, 2, float("nan"), " "], None, "3 samples of 5 have none. Fill them in"),
        (["01", "1", "2"], None, "same integer must be written alike, got '01' and '1'"),
        (["a"], "01,1", "`order` must name each class once, got 01, 1 more than once"),
        (["In Situ", "benign"], "benign,insitu", r"it lacks 'In Situ' \(1 sample; did you mean 'insitu'\?\)"),
        (["MILD", "mild"], "mild,top", r"it lacks 'MILD' \(1 sample; did you mean 'mild'\?\)"),
        (["low", "lower"], "low,high", r"it lacks 'lower' \(1 sample\)\."),
        (
            ["x", "x", "a"],
            "a,b",
            r"`order` must name every label of the data, it lacks 'x' \(2 samples\). It names a, b",
        ),
        ([1, 2, 70], "0..69", r"it lacks '70' \(1 sample\)"),
        (["5", "6", "7"], "5,6,7+", r"it lacks '7' \(1 sample; did you mean '7\+'\?\)"),
        (["grade 1", "grade 9"], "grade 1,grade 2", r"it lacks 'grade 9' \(1 sample\)"),
        (["a", "9" * 5000], None, "The order of the labels is not known"),
    ],
)
def test_labels_that_have_no_place_are_refused(found, order, message):
    with pytest.raises(InputError, match=message):
        order_labels(found, order=order)


@pytest.mark.bad_input
def test_rows_of_missing_labels_have_the_names_given():
    with pytest.raises(InputError, match="1 sample of 3 has none: row 7"):
        order_labels([1, 2, None], rows=[5, 6, 7])


@pytest.mark.bad_input
def test_the_flag_is_named_only_where_there_is_one():
    with pytest.raises(InputError, match="Give `classes`, lowest first"):
        order_labels(["a", "b"], argument="classes")


def test_labels_without_a_place_are_named_with_their_rows_and_have_none():
    found = ["a", None, "C", "NA", "b", "x", "C"]
    ordered, (missing, unnamed) = read_labels(found, order="a,b,c", rows=range(10, 17))
    assert ordered.labels.tolist() == [0, -1, -1, -1, 1, -1, -1]
    assert (missing.indices, unnamed.indices) == ((1, 3), (2, 5, 6))
    assert missing.sentence == "Every sample must have a label, 2 samples of 7 have none: rows 11, 13"
    assert unnamed.sentence == (
        "`order` must name every label of the data, it lacks 'C' (2 samples, rows 12, 16; did you mean 'c'?), 'x' "
        "(1 sample, row 15). It names a, b, c"
    )
    assert unnamed.advice == "Correct these labels or the order"
    assert unnamed.reason == "a label that the order lacks, 'C', 'x'"


def test_names_of_signs_alone_are_not_alike():
    _, (fault,) = read_labels(["++", "low"], order="--,low")
    assert "it lacks '++' (1 sample). It names" in fault.sentence


def test_an_order_that_is_not_known_is_a_fault_of_all_labels():
    ordered, (missing, unknown) = read_labels(["low", None, "high"], rows=[2, 3, 4])
    assert (ordered, missing.indices, unknown.indices) == (None, (1,), ())
    assert unknown.sentence.startswith("The order of the labels is not known and is never guessed")


def test_a_class_called_like_nothing_is_no_missing_label():
    assert read_labels(["NA", "low"], order="NA,low")[1] == []
    assert [fault.indices for fault in read_labels(["NA", "1", "2"])[1]] == [(0,)]


def test_where_all_labels_are_missing_no_row_is_named():
    _, (fault,) = read_labels(["", None], order="a,b", rows=[2, 3])
    assert (fault.indices, fault.sentence) == ((0, 1), "There are no labels: every one is missing")


@pytest.mark.parametrize("labels", [[1, 2, 3, 4, 5], ["1", None, "5.0"], [-1, 0, 3]])
def test_integers_that_would_fit_one_further_are_asked_about_and_are_no_fault_of_their_rows(labels):
    _, faults = read_labels(labels, order="0..4")
    assert faults[-1].indices == ()
    assert str(faults[-1]).endswith("Are the labels shifted by one? Correct the labels or the order.")


@pytest.mark.parametrize("labels", [[0, 5], [1, 6], [-1, 5], [1, 5, "x"]])
def test_other_labels_that_the_order_lacks_are_faults_of_their_rows(labels):
    _, (fault,) = read_labels(labels, order="0..4")
    assert fault.indices
    assert fault.advice == "Correct these labels or the order"


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


@pytest.mark.parametrize("name", ["7", "7.", "7.00", "07", "+7"])
def test_spellings_of_an_integer_are_one_label(name):
    assert label_key(name) == 7
    assert order_labels([name, "0"], order="0..9").labels.tolist() == [7, 0]  # as labels of data are read


def test_anything_else_is_its_own_text():
    for name in ["7.5", "7e0", "1,000", "grade 7", "", "-", "1" * 19, "9" * 5000]:
        assert label_key(name) == name


def test_a_sign_counts():
    assert label_key("-7.0") == -7


def test_names_are_alike_but_for_case_spaces_and_signs():
    assert letters("In Situ") == letters("in_situ") == letters("InSitu") == "insitu"
    assert letters("grade 2") != letters("grade 3")
    assert letters("++") == ""
