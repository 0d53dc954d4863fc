import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data.manifest import FeatureRows, ImageArrays, ImageFiles, Manifest
from onepeak.data.splits.copies import (
    conflict_notes,
    conflicting_duplicates,
    data_digest,
    item_digests,
    keep_copies_together,
)
from onepeak.errors import InputError


def test_copies_with_two_labels_are_reported_with_names_and_labels(images):
    manifest = images([0, 1, 0, 1, 2, 2])
    [conflict] = conflicting_duplicates(manifest, ["a", "a", "b", "c", "d", "d"])
    assert conflict.items == (0, 1)
    assert str(conflict) == "images/000000.jpg (c0), images/000001.jpg (c1)"


def test_images_with_two_labels_are_told_and_equal_rows_are_not(images):
    manifest = images([0, 1] * 5)
    digests = [str(item // 2) for item in range(10)]
    notes = conflict_notes(manifest, digests)
    assert notes[0] == "exact copies with different labels: images/000000.jpg (c0), images/000001.jpg (c1)"
    assert len(notes) == 4
    assert notes[3] == "and 2 more such copies: `onepeak check DATA` shows all"
    assert conflict_notes(manifest, [str(item) for item in range(10)]) == []
    rows = FeatureRows(columns=("x",), values=np.zeros((10, 1)))
    assert conflict_notes(replace(manifest, items=rows), digests) == []


def test_groups_that_share_a_copy_become_one(images):
    # Ann's second image is Bob's first, Bob's second is Cem's first: all three are joined
    manifest = images([0, 1, 0, 1, 0, 1], groups=("Ann", "Ann", "Bob", "Bob", "Cem", "Dan"))
    together = keep_copies_together(manifest, ["1", "2", "2", "3", "3", "4"])
    assert together.groups == ("Ann", "Ann", "Ann", "Ann", "Ann", "Dan")
    together = keep_copies_together(images([0, 1, 2]), ["a", "b", "a"])
    assert together.groups == ("images/000000.jpg", "images/000001.jpg", "images/000000.jpg")


pairs = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=20)


@given(pairs)
def test_the_new_groups_are_the_connected_ones(images, pairs):
    groups = tuple(f"g{group}" for group, _ in pairs)
    digests = [f"d{digest}" for _, digest in pairs]
    together = keep_copies_together(images([0, 1] + [0] * (len(pairs) - 2), groups=groups), digests)

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


def test_files_are_known_by_their_bytes_not_their_names(tmp_path):
    for name, content in (("a.png", b"one"), ("b.png", b"two"), ("c.jpg", b"one"), ("empty.png", b"")):
        (tmp_path / name).write_bytes(content)
    first, second, third, empty = item_digests(
        ImageFiles(root=tmp_path, paths=("a.png", "b.png", "c.jpg", "empty.png"))
    )
    assert first == third == hashlib.blake2b(b"one", digest_size=16).hexdigest()
    assert len({first, second, empty}) == 3
    # files that were read for it before are not read again
    files = ImageFiles(root=Path("nowhere"), paths=("a.png", "b.png", "c.png"), digests=("a1", "b2", "c3"))
    assert item_digests(files.take([2, 0])) == ("c3", "a1")
    assert files == ImageFiles(root=Path("nowhere"), paths=files.paths)  # the same images
    with pytest.raises(InputError, match=r"The image nowhere/a.png cannot be read: No such file"):
        item_digests(ImageFiles(root=Path("nowhere"), paths=("a.png",)))


def test_images_in_memory_are_known_by_their_pixels_and_rows_by_their_values_with_one_zero_and_one_missing():
    values = np.array([[0.0, np.nan], [-0.0, -np.nan], [0.0, 1.0]])
    pixels = np.arange(3)[:, None, None, None] // 2 * np.ones((1, 2, 2, 3))
    for items in (FeatureRows(columns=("x", "y"), values=values), ImageArrays(pixels=pixels.astype(np.uint8))):
        first, second, third = item_digests(items)
        assert first == second != third


def test_data_are_the_same_by_items_labels_and_classes_not_by_their_name():
    def digest(values=(0.0, 1.0), labels=(0, 1), classes=("low", "high"), name="mine", column="x", sides="LR"):
        rows = FeatureRows(columns=(column,), values=np.array(values)[:, None], categories={column: tuple(sides)})
        data = Manifest(name=name, items=rows, labels=np.array(labels), classes=classes)
        return data_digest(data, item_digests(data.items))

    assert digest() == digest(name="theirs")
    others = [digest(values=(0.0, 2.5)), digest(values=(1.0, 0.0)), digest(labels=(1, 1)), digest(classes=("a", "b"))]
    assert len({digest(), *others, digest(column="y"), digest(sides="RL")}) == 7


def test_images_are_known_again_by_records_made_before(tmp_path):
    """Results that were published hold this hash; worked out by `sha256sum` from the text and the labels' bytes."""
    files = ImageFiles(root=tmp_path, paths=("a.png", "b.png"), digests=("a1", "b2"))
    data = Manifest(name="mine", items=files, labels=np.array([0, 1]), classes=("low", "high"))
    assert data_digest(data, item_digests(files)) == "3b91a612e2f01d07e5419fe2ddab68678f9cdffeda6cd28b5ab3c56ae45be4db"
