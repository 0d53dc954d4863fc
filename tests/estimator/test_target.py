import warnings

import numpy as np
import pandas as pd
import pytest

from onepeak.errors import InputError
from onepeak.estimator.target import (
    LabelGapWarning,
    UnknownOrderWarning,
    check_labels,
    declared_classes,
    occurring_classes,
    positions_of,
    weights_of_classes,
)

GRADES = ["low", "middle", "high"]
ORDERED = pd.Series(pd.Categorical(["high", "low"], categories=GRADES, ordered=True))


@pytest.mark.parametrize(
    ("order", "y", "expected"),
    [
        (GRADES, ["high"], GRADES),
        (range(3), [1], [0, 1, 2]),
        (None, ORDERED, GRADES),  # with a category that does not occur
        (None, ORDERED.array, GRADES),
        (["high", "low"], ORDERED, ["high", "low"]),  # what is given wins
    ],
)
def test_the_order_is_the_one_given_or_that_of_an_ordered_categorical(order, y, expected):
    assert declared_classes(order, y).tolist() == expected


def test_labels_without_an_order_declare_none():
    assert declared_classes(None, pd.Series(["a", "b"], dtype="category")) is None
    assert declared_classes(None, np.array([1, 2])) is None


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([3, 1, 2], [1, 2, 3]),
        ([2.0, 1.0, 3.0], [1, 2, 3]),
        ([True, False], [False, True]),
        (["10", "9", "11"], ["9", "10", "11"]),
        (["yes", "no"], ["no", "yes"]),  # two names have no order to get wrong
    ],
)
def test_numbers_also_in_text_order_themselves_and_two_names_are_sorted(labels, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert occurring_classes(np.array(labels)).tolist() == expected


def test_more_names_are_sorted_with_a_warning():
    with pytest.warns(UnknownOrderWarning, match="high < low < middle"):
        assert occurring_classes(np.array(["low", "high", "middle"])).tolist() == ["high", "low", "middle"]


@pytest.mark.parametrize("labels", [[1, 2, 5, 4], ["1", "2", "4", "5"]])
def test_an_integer_that_no_sample_has_is_named(labels):
    with pytest.warns(LabelGapWarning, match="label 3"):
        assert len(occurring_classes(np.array(labels))) == 4


@pytest.mark.parametrize("labels", [[1, 2, 3], [-1, 1], [10, 20, 30], [0.5, 1.0, 2.0], ["1", "2"]])
def test_codes_and_two_labels_have_no_gaps(labels):
    assert len(occurring_classes(np.array(labels))) == len(labels)


def test_a_class_without_a_weight_weighs_one_and_a_rare_class_may_be_absent_where_all_have_theirs():
    assert weights_of_classes({3: 2, 1: 0.5}, np.array([1, 2, 3])).tolist() == [0.5, 1.0, 2.0]
    assert weights_of_classes({0: 1, 1: 2, 9: 5}, np.array([0, 1])).tolist() == [1.0, 2.0]


def test_labels_with_fractions_are_classes_by_a_declared_order_only():
    stars = np.tile([0.5, 1.0, 1.5], 10)
    check_labels(stars, np.array([0.5, 1.0, 1.5]))
    with pytest.raises(InputError, match=r"continuous\. .* `order`"):
        check_labels(stars, None)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("order", "y", "message"),
    [
        *((order, None, "`order` must be a sequence") for order in ("low,high", set(GRADES), 3, [["low", "high"]])),
        (["low"], None, "`order` must name at least 2 classes"),
        ([], None, "`order` must name at least 2 classes"),
        (["a", "b", "a"], None, "got a more than once"),
        (None, ORDERED[:1].cat.remove_unused_categories(), "`y` must have at least 2 classes, got 1 class, 'high'"),
    ],
)
def test_a_wrong_order_is_refused(order, y, message):
    with pytest.raises(InputError, match=message):
        declared_classes(order, y)


@pytest.mark.bad_input
def test_a_single_class_is_refused():
    with pytest.raises(InputError, match=r"`y` must have at least 2 classes, got 1 class, 7: .* in `order`"):
        occurring_classes(np.array([7, 7]))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        (["low", "huge"], GRADES, "'low', 'middle', 'high', got 'huge'"),
        ([0, 2], GRADES, r"got 0, 2\. Stacking, .* `y.cat.codes`, .* OrdinalEncoder\("),
        # what cannot be positions in a sorted list is not told of meta-estimators
        *((labels, GRADES, "`order=`") for labels in ([0, 4], [-1, 0], [0.0, 1.0], ["0", "1"], [False, True])),
        ([0, 1], [1, 2], r"order 1, 2, got 0: if they are .* `order=`, lowest first\.$"),
    ],
)
def test_a_label_that_the_order_does_not_have_is_named_with_its_likely_cause(labels, classes, message):
    with pytest.raises(InputError, match=message):
        positions_of(np.array(labels), np.array(classes))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"nonee": 3}, "of the order 'none', 'mild', got 'nonee'"),
        ({"none": 1, "nonee": 3}, "of the order 'none', 'mild', got 'nonee'"),
        ({"none": -3}, "`class_weight` must be a finite number >= 0, got -3"),
    ],
)
def test_a_weight_of_no_class_is_named(given, message):
    with pytest.raises(InputError, match=message):
        weights_of_classes(given, np.array(["none", "mild"]))
