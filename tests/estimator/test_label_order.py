import warnings

import numpy as np
import pandas as pd
import pytest

from onepeak.errors import InputError
from onepeak.estimator.label_order import (
    LabelGapWarning,
    UnknownOrderWarning,
    check_labels,
    declared_classes,
    occurring_classes,
    positions_of,
    weights_of_classes,
)


def test_an_order_given_is_the_order_of_the_classes():
    assert declared_classes(["low", "middle", "high"], y=["high"]).tolist() == ["low", "middle", "high"]
    assert declared_classes(range(3), y=[1]).tolist() == [0, 1, 2]


def test_an_ordered_categorical_declares_its_order_with_categories_that_do_not_occur():
    y = pd.Series(pd.Categorical(["high", "low"], categories=["low", "middle", "high"], ordered=True))
    assert declared_classes(None, y).tolist() == ["low", "middle", "high"]
    assert declared_classes(None, y.array).tolist() == ["low", "middle", "high"]


def test_a_given_order_wins_over_that_of_a_categorical():
    y = pd.Series(pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True))
    assert declared_classes(["a", "b"], y).tolist() == ["a", "b"]


def test_a_categorical_without_an_order_declares_none():
    assert declared_classes(None, pd.Series(["a", "b"], dtype="category")) is None
    assert declared_classes(None, np.array([1, 2])) is None


@pytest.mark.parametrize("labels", [[3, 1, 2], [2.0, 1.0, 3.0], [True, False]])
def test_numbers_order_themselves(labels):
    assert occurring_classes(np.array(labels)).tolist() == sorted(set(labels))


def test_text_that_is_integers_is_ordered_as_integers():
    assert occurring_classes(np.array(["10", "9", "-1"], dtype=object)).tolist() == ["-1", "9", "10"]


def test_two_text_labels_have_no_order_to_get_wrong():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert occurring_classes(np.array(["yes", "no"])).tolist() == ["no", "yes"]


def test_more_text_labels_are_sorted_and_a_warning_says_so():
    with pytest.warns(UnknownOrderWarning, match="it is high < low < middle. If that is wrong.* give `order`"):
        assert occurring_classes(np.array(["low", "high", "middle"])).tolist() == ["high", "low", "middle"]


def test_positions_are_places_in_the_order():
    classes = np.array(["low", "middle", "high"])
    assert positions_of(np.array(["high", "low", "high"], dtype=object), classes).tolist() == [2, 0, 2]
    assert positions_of(np.array([1.0, 3.0]), np.array([1, 2, 3])).tolist() == [0, 2]


@pytest.mark.bad_input
class TestBadInput:
    @pytest.mark.parametrize("order", ["low,high", {"low", "high"}, 3, [["low", "high"]]])
    def test_an_order_that_is_no_sequence(self, order):
        with pytest.raises(InputError, match="`order` must be a sequence of labels, lowest first, got"):
            declared_classes(order, y=None)

    @pytest.mark.parametrize("order", [["low"], []])
    def test_an_order_of_fewer_than_two_labels(self, order):
        with pytest.raises(InputError, match="`order` must name at least 2 classes"):
            declared_classes(order, y=None)

    def test_an_order_that_names_a_class_twice(self):
        with pytest.raises(InputError, match="`order` must name each class once, got a more than once"):
            declared_classes(["a", "b", "a"], y=None)

    def test_a_single_class(self):
        with pytest.raises(InputError, match=r"`y` must have at least 2 classes, got 1 class, 7: .* in `order`"):
            occurring_classes(np.array([7, 7]))

    def test_an_ordered_categorical_of_a_single_class(self):
        with pytest.raises(InputError, match=r"`y` must have at least 2 classes, got 1 class, 'low': .* in `order`"):
            declared_classes(None, pd.Series(pd.Categorical(["low", "low"], ordered=True)))

    def test_a_label_that_the_order_does_not_have(self):
        with pytest.raises(InputError, match="`y` must have only labels of the order 'a', 'b', got 'c'"):
            positions_of(np.array(["a", "c"]), np.array(["a", "b"]))

    def test_places_where_text_is_expected_are_told_from_whom_they_may_come(self):
        classes = np.array(["low", "middle", "high", "top"])
        message = r"only labels of the order 'low', .* got 0, 1, 3\. Stacking, .* `y.cat.codes`, .* OrdinalEncoder\("
        with pytest.raises(InputError, match=message):
            positions_of(np.array([0, 3, 1]), classes)

    @pytest.mark.parametrize("labels", [[0, 4], [-1, 0], [0.0, 1.0], ["0", "1"], [False, True]])
    def test_what_cannot_be_such_places_is_not(self, labels):
        with pytest.raises(InputError, match="only labels of the order 'low', 'middle', 'high', 'top', got") as told:
            positions_of(np.array(labels), np.array(["low", "middle", "high", "top"]))
        assert "Stacking" not in str(told.value)

    def test_integers_outside_an_order_of_integers_are_no_such_places(self):
        with pytest.raises(InputError, match=r"of the order 1, 2, got 0: if they are .* `order=`, lowest first\.$"):
            positions_of(np.array([0, 1]), np.array([1, 2]))


class TestGaps:
    @pytest.mark.parametrize("labels", [[1, 2, 5, 4], ["1", "2", "4", "5"]])
    def test_an_integer_that_no_sample_has_is_named(self, labels):
        with pytest.warns(LabelGapWarning, match=r"No sample has the label 3, so .* name all labels in `order`"):
            assert len(occurring_classes(np.array(labels))) == 4

    @pytest.mark.parametrize("labels", [[1, 2, 3], [-1, 1], [10, 20, 30], [0.5, 1.0, 2.0], ["1", "2"]])
    def test_codes_and_two_labels_have_none(self, labels):
        assert len(occurring_classes(np.array(labels))) == len(labels)


class TestLabelsWithFractions:
    stars = np.tile([0.5, 1.0, 1.5], 10)

    def test_they_are_classes_by_a_declared_order(self):
        check_labels(self.stars, np.array([0.5, 1.0, 1.5]))

    @pytest.mark.bad_input
    def test_without_one_the_message_names_it(self):
        with pytest.raises(InputError, match=r"^Unknown label type: continuous\. .* half stars, .* all in `order`"):
            check_labels(self.stars, None)


def test_a_class_without_a_weight_weighs_one():
    assert weights_of_classes({3: 2, 1: 0.5}, np.array([1, 2, 3])).tolist() == [0.5, 1.0, 2.0]


def test_a_rare_class_with_a_weight_may_be_absent_where_all_others_have_theirs():
    assert weights_of_classes({0: 1, 1: 2, 9: 5}, np.array([0, 1])).tolist() == [1.0, 2.0]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"nonee": 3}, "`class_weight` must have only labels of the order 'none', 'mild', got 'nonee'"),
        ({"none": 1, "nonee": 3}, "only labels of the order 'none', 'mild', got 'nonee'"),
        ({"none": -3}, "`class_weight` must be a finite number >= 0, got -3"),
    ],
)
def test_a_weight_of_no_class_is_named(given, message):
    with pytest.raises(InputError, match=message):
        weights_of_classes(given, np.array(["none", "mild"]))
