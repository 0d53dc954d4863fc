import numpy as np
import pytest

from onepeak.data.splits.split import Split, class_counts, group_counts, split_notes
from onepeak.errors import InputError


def make(train=(0, 1), valid=(2,), test=(3,), **fields):
    arrays = {name: np.array(items) for name, items in (("train", train), ("valid", valid), ("test", test))}
    return Split(**arrays, **{"protocol": "mine", **fields})


def test_parts_are_ascending_and_read_only_copies():
    given = np.array([1, 0])
    split = Split(train=given, valid=np.array([4, 2]), test=np.array([3]), protocol="mine")
    assert split.valid.tolist() == [2, 4]
    with pytest.raises(ValueError, match="read-only"):
        split.train[0] = 7
    given[0] = 9
    assert split.train.tolist() == [0, 1]


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
        ({"train": (0, 3)}, r"`train` and `test` must share no sample, got 1 in both .*'mine', split 0, fold 0\): 3\."),
        ({"train": range(9), "valid": range(9)}, r"got 9 in both .*: 0, 1, 2, 3, 4 and 4 more"),
        ({"valid": ()}, r"`valid` must hold at least one sample, got none .*too small"),
        ({"test": (3, 3)}, r"`test` must hold every sample once, got 3 more than once"),
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


def test_samples_of_each_class_and_groups_are_counted(images):
    labels, split = [0, 0, 2, 2, 2], make([0, 2, 3], [1], [4])
    counts = class_counts(images(labels, num_classes=4), split)
    assert [count.tolist() for count in counts.values()] == [[1, 0, 2, 0], [1, 0, 0, 0], [0, 0, 1, 0]]
    grouped = images(labels, groups=("a", "d", "b", "c", "e"))
    assert group_counts(grouped, split) == {"train": 3, "valid": 1, "test": 1}
    assert group_counts(images(labels), split) is None


def test_samples_in_no_part_are_noted(images, rows):
    manifest = images([0, 1] * 4)
    whole, less, least = (make([0, 1], [2, 3], test) for test in ([4, 5, 6, 7], [4, 5], [4]))
    assert split_notes(manifest, [whole]) == []
    shown = "2 of 8 samples are in no part, and not used: images/000006.jpg, images/000007.jpg"
    assert split_notes(manifest, [less]) == [shown]
    of_many = split_notes(manifest, [whole, least, less])
    assert of_many[0].startswith("3 of 8 samples are in no part of some run, and not used: images/000005.jpg, ")
    assert "sample 4" in split_notes(rows(np.zeros((5, 1)), [0, 1, 0, 1, 0]), [make([0, 1], [2], [3])])[0]


def test_a_part_that_lacks_a_class_is_noted_with_the_number_of_runs(images):
    manifest = images([0, 0, 0, 1, 1, 1], num_classes=3)
    runs = [make([0, 3], [1, 4], [2, 5]), make([0, 1], [2, 3], [4, 5])]
    assert split_notes(manifest, runs) == [
        "train lacks 1 of the 2 classes that have samples, in some run: c1 (1 of 2 runs)",
        "test lacks 1 of the 2 classes that have samples, in some run: c0 (1 of 2 runs)",
    ]
    assert split_notes(manifest, runs[:1]) == []
    assert split_notes(manifest, runs[1:], parts=("train",)) == ["train lacks 1 of the 2 classes that have samples: c1"]
