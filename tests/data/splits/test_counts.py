import numpy as np

from onepeak.data.splits.counts import class_counts, group_counts, split_notes, unused_items
from onepeak.data.splits.split import Split


def split(train, valid, test):
    return Split(train=np.array(train), valid=np.array(valid), test=np.array(test), protocol="mine")


def test_items_of_each_class_are_counted_empty_classes_too(images):
    counts = class_counts(images([0, 0, 2, 2, 2], num_classes=4), split([0, 2, 3], [1], [4]))
    assert {part: count.tolist() for part, count in counts.items()} == {
        "train": [1, 0, 2, 0],
        "valid": [1, 0, 0, 0],
        "test": [0, 0, 1, 0],
    }


def test_groups_are_counted_where_there_are_groups(images):
    parts = split([0, 1], [2], [3, 4])
    labels = [0, 1, 0, 1, 0]
    assert group_counts(images(labels, groups=("a", "a", "b", "c", "d")), parts) == {
        "train": 1,
        "valid": 1,
        "test": 2,
    }
    assert group_counts(images(labels), parts) is None


def test_items_in_no_part_are_told_of(images):
    manifest = images([0, 1] * 4)
    whole, less, least = (split([0, 1], [2, 3], test) for test in ([4, 5, 6, 7], [4, 5], [4]))
    assert unused_items(manifest, [whole]) == []
    assert unused_items(manifest, [less]) == [
        "2 of 8 items are in no part, and not used: images/000006.jpg, images/000007.jpg"
    ]
    of_many = unused_items(manifest, [whole, least, less])
    assert of_many[0].startswith("3 of 8 items are in no part of some run, and not used: images/000005.jpg, ")
    assert split_notes(manifest, [less])[:1] == unused_items(manifest, [less])


def test_a_part_that_lacks_a_class_is_noted_with_the_number_of_runs(images):
    manifest = images([0, 0, 0, 1, 1, 1], num_classes=3)
    runs = [split([0, 3], [1, 4], [2, 5]), split([0, 1], [2, 3], [4, 5])]
    assert split_notes(manifest, runs) == [
        "train lacks 1 of the 2 classes that have items, in some run: c1 (1 of 2 runs)",
        "test lacks 1 of the 2 classes that have items, in some run: c0 (1 of 2 runs)",
    ]
    assert split_notes(manifest, runs[:1]) == []
    assert split_notes(manifest, runs[1:], parts=("train",)) == ["train lacks 1 of the 2 classes that have items: c1"]


def test_many_missing_classes_are_cut_short(images):
    manifest = images([*range(8), 0], num_classes=8)
    train = split_notes(manifest, [split([0], [8], list(range(1, 8)))])[0]
    assert train.startswith("train lacks 7 of the 8 classes")
    assert train.endswith("c4, c5 and 2 more")
