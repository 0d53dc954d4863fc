import numpy as np
import pytest

from onepeak.data.splits.split import Split
from onepeak.errors import InputError


def make(train=(0, 1), valid=(2,), test=(3,), **fields):
    arrays = {name: np.array(items) for name, items in (("train", train), ("valid", valid), ("test", test))}
    return Split(**arrays, **{"protocol": "mine", **fields})


def test_parts_are_kept_in_ascending_order():
    split = make(train=(5, 0, 4), valid=(2, 1), test=(3,))
    assert split.train.tolist() == [0, 4, 5]
    assert split.valid.tolist() == [1, 2]


def test_parts_cannot_be_written_to_and_the_caller_s_array_stays_as_it_was():
    given = np.array([1, 0])
    split = Split(train=given, valid=np.array([2]), test=np.array([3]), protocol="mine")
    with pytest.raises(ValueError, match="read-only"):
        split.train[0] = 7
    given[0] = 9
    assert split.train.tolist() == [0, 1]


def test_the_name_is_that_of_the_run_s_folder():
    assert make(split=3, fold=1).name == "split3-fold1"


def test_splits_are_equal_when_parts_and_origin_are():
    assert make() == make()
    assert hash(make()) == hash(make())
    assert make() != make(seed=1)
    assert make() != make(train=(0, 4))
    assert make() != "split0-fold0"


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"train": (0, 3)}, r"`train` and `test` must share no item, got 1 in both .*'mine', split 0, fold 0\): 3\."),
        ({"train": range(9), "valid": range(9)}, r"got 9 in both .*: 0, 1, 2, 3, 4 and 4 more"),
        ({"valid": ()}, r"`valid` must hold at least one item, got none .*too small"),
        ({"test": (3, 3)}, r"`test` must hold every item once, got 3 more than once"),
        ({"train": (-1, 0)}, r"`train` must hold positions >= 0, got -1"),
        ({"train": (0.5, 1)}, r"`train` must be a flat array of integer positions, got float64 of shape \(2,\)"),
        ({"train": ((0, 1),)}, r"`train` must be a flat array .* of shape \(1, 2\)"),
        ({"fold": -1}, r"`fold` must be an integer >= 0, got -1"),
        ({"seed": 0.5}, r"`seed` must be an integer >= 0, got 0.5"),
    ],
)
def test_parts_that_are_none_are_refused(fields, message):
    with pytest.raises(InputError, match=message):
        make(**fields)


@pytest.mark.bad_input
def test_a_split_of_a_larger_data_set_is_refused():
    make().check_within(4)
    with pytest.raises(InputError, match=r"`test` of split0-fold0 must hold positions from 0 to 2, got 3: .* another"):
        make().check_within(3)
