from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from onepeak.data.manifest import ImageFiles
from onepeak.data.splits.matching import (
    check_labels_agree,
    item_name,
    match_paths,
    match_positions,
    plain_path,
)
from onepeak.errors import InputError

FILE = Path("theirs.csv")


@pytest.fixture
def three(images):
    return images([0, 1, 2])


def test_paths_are_matched_whatever_the_order_and_the_slashes(three):
    paths = ["./images/000002.jpg", "images\\000000.jpg"]
    assert match_paths(paths, three, file=FILE).tolist() == [2, 0]


def test_a_path_has_one_plain_spelling():
    assert plain_path(" ./a//b/../c.jpg ") == "a/c.jpg"


def test_an_item_is_called_by_its_path_or_its_position(three, rows):
    assert item_name(three, 1) == "images/000001.jpg"
    assert item_name(rows([[1.0], [2.0]], [0, 1]), 1) == "item 1"


def test_labels_under_other_names_are_not_looked_at(three):
    assert not check_labels_agree(np.array([0, 1]), ["young", "old"], three, file=FILE)
    assert check_labels_agree(np.array([2, 0]), ["c2", "c0"], three, file=FILE)


def test_an_item_without_a_label_shows_nothing(three):
    assert not check_labels_agree(np.array([0, 1]), ["c0", ""], three, file=FILE)
    assert not check_labels_agree(np.array([0, 1]), ["", ""], three, file=FILE)


@pytest.mark.parametrize("labels", [["2", "0"], ["2.0", "0.0"], ["02", "00"]])
def test_integers_are_the_same_label_however_they_are_written(three, labels):
    assert check_labels_agree(np.array([2, 0]), labels, replace(three, classes=("0", "1", "2")), file=FILE)


@pytest.mark.bad_input
def test_a_label_that_the_data_lack_does_not_hide_that_others_are_wrong(three):
    with pytest.raises(
        InputError,
        match=r"for 2 items: .*0.jpg \(c2 there, c0 here\), .*1.jpg \(x there, c1 here\); 'mine' has no class 'x'",
    ):
        check_labels_agree(np.array([0, 1, 2]), ["c2", "x", "c2"], three, file=FILE)


@pytest.mark.bad_input
def test_what_does_not_match_is_named(three, rows):
    unknown = [f"faces/{number}.jpg" for number in range(7)]
    with pytest.raises(InputError, match=r"theirs.csv must name items of 'mine', .* 'images/000000.jpg'; .* 7 items: "):
        match_paths(unknown, three, file=FILE)
    with pytest.raises(InputError, match=r"it has no 1 item: faces/0.jpg\."):
        match_paths(unknown[:1], three, file=FILE)
    with pytest.raises(InputError, match=r"'table' has no files: give a column `item`"):
        match_paths(["a.jpg"], rows([[1.0], [2.0]], [0, 1]), file=FILE)
    twice = replace(three, items=ImageFiles(root=Path(), paths=("a.jpg", "b.jpg", "./a.jpg")))
    with pytest.raises(InputError, match=r"'mine' has a path twice: give a column `item`"):
        match_paths(["a.jpg"], twice, file=FILE)
    with pytest.raises(InputError, match=r"must hold positions from 0 to 2, got 2 items: 3, 9: .*another data set"):
        match_positions([0, 3, 9], three, file=FILE)
    with pytest.raises(
        InputError, match=r"other labels than 'mine' for 1 item: images/000000.jpg \(c2 there, c0 here\)"
    ):
        check_labels_agree(np.array([0, 1]), ["c2", "c1"], three, file=FILE)
