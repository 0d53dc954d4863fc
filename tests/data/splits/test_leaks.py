from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data.manifest import ImageFiles
from onepeak.data.splits.copies import keep_copies_together
from onepeak.data.splits.leaks import LeakError, find_leaks, refuse_leaks
from onepeak.data.splits.protocols import make_splits
from onepeak.data.splits.split import Split
from onepeak.errors import InputError


def split(train, valid, test):
    return Split(train=np.array(train), valid=np.array(valid), test=np.array(test), protocol="mine")


def test_a_person_on_two_sides_is_a_leak(images):
    manifest = images([0, 1, 0, 1, 0], groups=("Ann", "Bob", "Ann", "Ann", "Cem"))
    [leak] = find_leaks(manifest, split([0, 1], [4], [2, 3]))
    assert (leak.kind, leak.parts, leak.examples) == ("group", ("train", "test"), ("Ann",))
    assert str(leak) == "train and test share 1 group (2 samples of test): Ann"


def test_a_path_that_is_listed_twice_is_a_leak_however_it_is_written(images):
    manifest = replace(images([0, 1, 0]), items=ImageFiles(root=Path(), paths=("a/1.jpg", "b.jpg", "./a/../a/1.jpg")))
    [leak] = find_leaks(manifest, split([0], [1], [2]))
    assert (leak.kind, leak.examples) == ("path", ("./a/../a/1.jpg",))


def test_the_same_bytes_under_two_names_are_a_leak(images):
    manifest = images([0, 1, 0, 1, 0, 1])
    [leak] = find_leaks(manifest, split([0, 1], [2], [3, 4, 5]), digests=["x", "y", "z", "x", "x", "y"])
    assert (leak.kind, leak.count, leak.items) == ("bytes", 2, 3)
    assert leak.examples == ("images/000003.jpg", "images/000005.jpg")
    assert "train and test share 2 images, byte for byte (3 samples of test)" in str(leak)


def test_copies_inside_one_part_are_no_leak(images):
    manifest = images([0, 1, 0, 1], groups=("a", "a", "b", "c"))
    assert find_leaks(manifest, split([0, 1], [2], [3]), digests=["x", "x", "y", "z"]) == []


def test_equal_rows_of_a_table_are_reported_and_not_refused(rows):
    manifest = rows([[1.0], [2.0], [1.0]], [0, 1, 0])
    [leak] = refuse_leaks(manifest, [split([0], [1], [2])], digests=["x", "y", "x"])
    assert leak.kind == "row"
    assert not leak.harmful
    assert "1 row, value for value" in str(leak)


group_lists = st.lists(st.integers(0, 12), min_size=3, max_size=40).filter(lambda groups: len(set(groups)) >= 3)


@given(group_lists, st.integers(0, 1000))
def test_the_general_protocols_never_leak_a_group_or_a_copy(images, numbers, seed):
    groups = tuple(f"g{number}" for number in numbers)
    manifest = images([item % 2 for item in range(len(groups))], groups=groups)
    digests = [f"d{item}" for item in range(len(groups))]
    digests[-1] = digests[0]
    together = keep_copies_together(manifest, digests)
    if len(set(together.groups)) < 3:
        return
    for protocol in ("kfold", "holdout"):
        runs = make_splits(together, protocol=protocol, splits=1, seed=seed)
        assert refuse_leaks(manifest, runs, digests=digests) == []


def test_fgnet_by_the_text_is_refused_with_the_protocol_and_the_flag_unless_leaks_are_allowed(fgnet_like):
    runs = make_splits(fgnet_like, protocol="paper", splits=1)
    with pytest.raises(LeakError) as refused:
        refuse_leaks(fgnet_like, runs)
    assert refuse_leaks(fgnet_like, make_splits(fgnet_like, protocol="code")) == []
    message = str(refused.value)
    assert message.startswith("5 of 5 folds leak. In split0-fold0: train and valid share ")
    assert "The paper's text does not mention subjects" in message
    assert "give `--protocol code`." in message
    assert message.endswith('give `--allow-leak`. (See "Your images" in the documentation)')
    found = refuse_leaks(fgnet_like, runs[:1], allow=True)
    assert [leak.parts for leak in found] == [("train", "valid"), ("train", "test"), ("valid", "test")]
    assert found == find_leaks(fgnet_like, runs[0])


@pytest.mark.bad_input
def test_other_leaks_are_refused_with_what_mends_them(images):
    manifest = images([0, 1, 0], groups=("a", "b", "a"))
    with pytest.raises(LeakError, match=r"1 of 1 split leaks\..*Keep groups together: give `--protocol kfold`"):
        refuse_leaks(manifest, [split([0], [1], [2])])
    with pytest.raises(LeakError, match=r"Delete the copies, or give .* `group` column .*keep_copies_together"):
        refuse_leaks(images([0, 1, 0]), [split([0], [1], [2])], digests=["x", "y", "x"])
    manifest = images([0, 1, 0, 1], groups=("a", "b", "a", "c"))
    leaking, clean = split([0], [1], [2]), split([0], [1], [3])
    with pytest.raises(LeakError, match=r"^1 of 2 splits leaks\. In split0-fold0"):
        refuse_leaks(manifest, [leaking, replace(clean, split=1)])
    with pytest.raises(LeakError, match=r"^1 of 2 folds leaks\. In split0-fold1"):
        refuse_leaks(manifest, [clean, replace(leaking, fold=1)])


@pytest.mark.bad_input
def test_a_split_or_fingerprints_of_other_data_are_refused(images):
    with pytest.raises(InputError, match="the split was made for another data set"):
        find_leaks(images([0, 1]), split([0], [1], [2]))
    with pytest.raises(InputError, match=r"`digests` must have one value per sample \(2\), got 3"):
        keep_copies_together(images([0, 1]), ["a", "b", "c"])
    with pytest.raises(InputError, match=r"`digests` must have one value per sample \(3\), got 1"):
        find_leaks(images([0, 1, 0]), split([0], [1], [2]), digests=["x"])
