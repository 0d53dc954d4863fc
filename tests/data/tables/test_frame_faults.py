"""Rows of a list or table that cannot be used."""

import numpy as np
import pandas as pd
import pytest

from onepeak.data.manifest import FeatureRows
from onepeak.data.tables.frame import from_frame
from onepeak.errors import InputError

BAD = pd.DataFrame(
    {
        "x": [1.0, np.inf, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        "label": ["a", "b", "b", None, "c", "a", "b", "a"],
        "group": ["p", "q", "r", "s", "t", None, "u", "v"],
    },
    index=[2, 3, 3, 4, 5, 6, 7, 8],
)


def test_rows_left_out_of_a_table_take_labels_and_groups_along():
    data = from_frame(BAD, order="a,b", skip_bad=True)
    assert data.items.values.tolist() == [[1.0], [3.0], [7.0], [8.0]]
    assert (data.labels.tolist(), data.groups, data.num_left_out) == ([0, 1, 1, 0], ("p", "r", "u", "v"), 4)
    assert data.notes[0] == (
        "left out 4 of 8 rows: no usable number in 'x' (row 3); no label (row 4); "
        "a label that the order lacks, 'c' (row 5); no group in 'group' (row 6)"
    )


@pytest.mark.bad_input
@pytest.mark.parametrize("label", [["low", "mid", "high", "mid", "low"], [0, 1, 2, 1, 0]])
def test_the_last_items_of_a_class_are_not_left_out(label):
    frame = pd.DataFrame({"x": [1, np.inf, 3, np.inf, 5], "label": label})
    message = (
        rf"^Every class must keep a sample, none is left of '{label[1]}': left out 2 of 5 rows: .* Correct or delete"
    )
    with pytest.raises(InputError, match=message):
        from_frame(frame, order="low,mid,high" if label[0] == "low" else None, skip_bad=True)


@pytest.mark.bad_input
@pytest.mark.parametrize("order", [None, "0..2"])
def test_the_last_images_of_a_class_are_not_left_out_either(plant, order):
    """Nor where they are left out for different reasons."""
    paths = ["a.jpg", "b.jpg", "c.jpg", "gone.jpg"]
    frame = pd.DataFrame({"path": paths, "label": [0, 1, 2, 2], "group": ["p", "q", None, "s"]})
    root = plant("a.jpg", "b.jpg", "c.jpg")
    message = r"none is left of '2': left out 2 of 4 rows: no such image, gone\.jpg \(row 3\); no group in 'group'"
    with pytest.raises(InputError, match=message):
        from_frame(frame, root=root, order=order, skip_bad=True)
    with pytest.raises(InputError, match=r"(?s)gone\.jpg \(row 3\)\. Check the column .* skip_bad=True\.$"):
        from_frame(frame, root=root, order=order)
    data = from_frame(frame, root=root, order=order, skip_bad=True, keep_classes=False)
    assert data.labels.tolist() == [0, 1]


def test_rows_like_others_need_no_item_of_every_class():
    frame = pd.DataFrame({"x": ["1", "2", "big"], "label": [0, 1, 2]})
    like = FeatureRows(columns=("x",), values=np.empty((0, 1)))
    assert from_frame(frame, skip_bad=True, like=like).labels.tolist() == [0, 1]


@pytest.mark.bad_input
def test_labels_that_the_order_lacks_stop_or_are_left_out_with_their_rows_and_names():
    frame = pd.DataFrame({"x": np.arange(20) / 7, "label": ["low", "high", "low", "very poor"] * 5})
    with pytest.raises(InputError) as caught:
        from_frame(frame, order="low,high")
    assert str(caught.value) == (
        "`order` must name every label of the data, it lacks 'very poor' (5 samples, rows 3, 7, 11, 15, 19). It names "
        "low, high. Correct these labels or the order. Or leave the rows out with skip_bad=True."
    )
    data = from_frame(frame, order="low,high", skip_bad=True)
    assert (len(data), data.num_left_out) == (15, 5)
    assert data.notes[0].startswith("left out 5 of 20 rows: a label that the order lacks, 'very poor' (rows 3, 7, ")


@pytest.mark.bad_input
def test_all_bad_cells_are_reported_at_once():
    with pytest.raises(InputError) as caught:
        from_frame(BAD, order="a,b")
    assert str(caught.value) == (
        "4 of 8 rows cannot be used as they are:\n"
        "  The column 'x' must be finite numbers that fit into float32, 1 row has none: inf (row 3). Correct these "
        "cells, or empty them: missing values are filled in.\n"
        "  Every sample must have a label, 1 sample of 8 has none: row 4. Fill them in.\n"
        "  `order` must name every label of the data, it lacks 'c' (1 sample, row 5). It names a, b. Correct these "
        "labels or the order.\n"
        "  Every row must have a group, 1 row has none in 'group': 6. Give each row that belongs to no group a "
        "unique name.\n"
        "Or leave the rows out with skip_bad=True."
    )


@pytest.mark.bad_input
@pytest.mark.parametrize("skip_bad", [False, True])
def test_an_order_that_is_missing_is_reported_with_bad_cells(skip_bad):
    with pytest.raises(InputError, match=r"(?s)inf \(row 3\)\. .*The order of the labels is not known"):
        from_frame(BAD, skip_bad=skip_bad)


@pytest.mark.bad_input
def test_rows_of_a_list_without_a_path_or_label_are_reported_with_missing_images(plant):
    paths = ["a.jpg", None, "c.jpg", "gone.jpg", "e.jpg", "f.jpg"]
    frame = pd.DataFrame({"path": paths, "label": [0, 1, None, 1, 0, 1], "age": [1, 2, 3, 4, 5, np.inf]})
    root = plant("a.jpg", "c.jpg", "e.jpg", "f.jpg")
    with pytest.raises(InputError) as caught:
        from_frame(frame, root=root)
    heading, unnamed, gone, label, _ = str(caught.value).splitlines()
    assert heading == "3 of 6 rows cannot be used as they are:"
    assert "Every row must have a `path`, 1 row without one: 1." in unnamed
    assert "1 sample of 6 has none: row 2." in label
    assert "1 of 6 images does not exist" in gone
    data = from_frame(frame, root=root, skip_bad=True)
    assert data.items.paths == ("a.jpg", "e.jpg", "f.jpg")  # columns that are not read have no bad cells
    assert (data.labels.tolist(), data.num_left_out) == ([0, 0, 1], 3)
    assert data.notes[0] == (
        "left out 3 of 6 rows: no `path` (row 1); no such image, gone.jpg (row 3); no label (row 2)"
    )
