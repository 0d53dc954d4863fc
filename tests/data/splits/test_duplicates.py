from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data.manifest import FeatureRows
from onepeak.data.splits.duplicates import conflict_notes, conflicting_duplicates, keep_copies_together
from onepeak.errors import InputError


def test_copies_with_two_labels_are_reported_with_names_and_labels(pictures):
    manifest = pictures([0, 1, 0, 1, 2, 2])
    [conflict] = conflicting_duplicates(manifest, ["a", "a", "b", "c", "d", "d"])
    assert conflict.items == (0, 1)
    assert str(conflict) == "images/000000.jpg (c0), images/000001.jpg (c1)"


def test_many_copies_are_shown_by_the_first_few(rows):
    [conflict] = conflicting_duplicates(rows([[1.0]] * 7, [0, 1, 0, 1, 0, 1, 0]), ["same"] * 7)
    assert len(conflict.items) == 7
    assert str(conflict) == "item 0 (c0), item 1 (c1), item 2 (c0), item 3 (c1), item 4 (c0) and 2 more"


def test_copies_that_agree_are_no_conflict(pictures):
    assert conflicting_duplicates(pictures([0, 0, 1, 1]), ["a", "a", "b", "b"]) == []


def test_pictures_with_two_labels_are_told_and_equal_rows_are_not(pictures):
    manifest = pictures([0, 1] * 5)
    digests = [str(item // 2) for item in range(10)]
    notes = conflict_notes(manifest, digests)
    assert notes[0] == "exact copies with different labels: images/000000.jpg (c0), images/000001.jpg (c1)"
    assert len(notes) == 4
    assert notes[3] == "and 2 more such copies: `onepeak splits DATA --json` shows all"
    assert conflict_notes(manifest, [str(item) for item in range(10)]) == []
    rows = FeatureRows(columns=("x",), values=np.zeros((10, 1)))
    assert conflict_notes(replace(manifest, items=rows), digests) == []


def test_copies_become_a_group(pictures):
    together = keep_copies_together(pictures([0, 1, 2]), ["a", "b", "a"])
    assert together.groups == ("images/000000.jpg", "images/000001.jpg", "images/000000.jpg")


def test_groups_that_share_a_copy_become_one(pictures):
    # Ann's second picture is Bob's first, Bob's second is Cem's first: all three are joined
    manifest = pictures([0, 1, 0, 1, 0, 1], groups=("Ann", "Ann", "Bob", "Bob", "Cem", "Dan"))
    together = keep_copies_together(manifest, ["1", "2", "2", "3", "3", "4"])
    assert together.groups == ("Ann", "Ann", "Ann", "Ann", "Ann", "Dan")


pairs = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=20)


@given(pairs)
def test_the_new_groups_are_the_connected_ones(pictures, pairs):
    groups = tuple(f"g{group}" for group, _ in pairs)
    digests = [f"d{digest}" for _, digest in pairs]
    together = keep_copies_together(pictures([0, 1] + [0] * (len(pairs) - 2), groups=groups), digests)

    reached = [{item} for item in range(len(pairs))]  # grown until nothing is added
    for _ in pairs:
        for item in range(len(pairs)):
            near = {
                other
                for other in range(len(pairs))
                for member in reached[item]
                if groups[other] == groups[member] or digests[other] == digests[member]
            }
            reached[item] |= near
    for item in range(len(pairs)):
        same = {other for other in range(len(pairs)) if together.groups[other] == together.groups[item]}
        assert same == reached[item]


@pytest.mark.bad_input
def test_fingerprints_must_be_one_an_item(pictures):
    with pytest.raises(InputError, match=r"`digests` must have one value per item \(2\), got 1"):
        conflicting_duplicates(pictures([0, 1]), ["a"])
    with pytest.raises(InputError, match=r"`digests` must have one value per item \(2\), got 3"):
        keep_copies_together(pictures([0, 1]), ["a", "b", "c"])
