import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from onepeak.errors import InputError
from onepeak.training.class_weights import class_weights

LABELS = np.array([0] * 6 + [1] * 3 + [2])


def test_balanced_weights_are_those_of_scikit_learn():
    expected = compute_class_weight("balanced", classes=np.arange(3), y=LABELS)
    assert class_weights("balanced", LABELS, 3) == pytest.approx(expected)


def test_balanced_samples_weigh_one_in_the_mean_and_every_class_the_same_in_sum():
    weights = np.array(class_weights("balanced", LABELS, 3))
    assert weights[LABELS].mean() == pytest.approx(1)
    assert [weights[LABELS[label == LABELS]].sum() for label in range(3)] == pytest.approx([10 / 3] * 3)


def test_a_class_that_does_not_occur_weighs_as_the_rarest_and_changes_no_other():
    three = class_weights("balanced", LABELS, 3)
    assert class_weights("balanced", LABELS, 5) == (*three, three[2], three[2])


def test_numbers_are_taken_as_they_are_and_none_means_none():
    assert class_weights((1, 2.5, 0.5), LABELS, 3) == (1.0, 2.5, 0.5)
    assert class_weights(None, LABELS, 3) is None


@pytest.mark.bad_input
def test_another_number_of_weights_than_classes_is_refused():
    with pytest.raises(
        InputError, match=r"`class_weight` must be 'balanced' or 3 numbers, one per class, got 2 numbers\."
    ):
        class_weights((1.0, 2.0), LABELS, 3)
