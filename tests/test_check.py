import pytest
import torch

from onepeak._check import check_choice, check_integer, check_number, check_weights
from onepeak.errors import InputError, UnknownNameError

pytestmark = pytest.mark.bad_input


def test_numpy_integers_are_integers():
    numpy = pytest.importorskip("numpy")
    assert check_integer("n", numpy.int64(3), minimum=2) == 3


@pytest.mark.parametrize("value", [1, 2.0, "3", None, True])
def test_what_is_no_integer_above_the_minimum_is_refused(value):
    with pytest.raises(InputError, match=r"`n` must be an integer >= 2, got "):
        check_integer("n", value, minimum=2)


@pytest.mark.parametrize(
    ("bounds", "value", "message"),
    [
        ({"above": 0}, 0, "> 0, got 0"),
        ({"minimum": 0, "below": 1}, 1.0, ">= 0 and < 1, got 1.0"),
        ({}, float("inf"), "must be a finite number, got inf"),
    ],
)
def test_bounds_are_told(bounds, value, message):
    with pytest.raises(InputError, match=message):
        check_number("x", value, **bounds)


def test_a_wrong_choice_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"Unknown `levels` 'squard'\. Did you mean 'squared'\?"):
        check_choice("levels", "squard", ["squared", "logistic"])


def test_nan_weights_are_refused():
    with pytest.raises(InputError, match="`w` must be finite and >= 0"):
        check_weights(torch.tensor([1.0, float("nan")]), (2,), name="w")
