"""Rows of a list or table that cannot be used; through the reader that a user calls."""

import numpy as np
import pandas as pd
import pytest

from onepeak.data.frame import from_frame
from onepeak.data.frame_rows import cell_fault
from onepeak.data.manifest import FeatureRows
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
        "left out 4 of 8 rows: infinite or too large in 'x' (row 3); no label (row 4); "
        "a label that the order lacks, 'c' (row 5); no group in 'group' (row 6)"
    )


@pytest.mark.parametrize(("other", "helps"), [("7", True), ("7.5", False)])
def test_of_cells_with_a_decimal_comma_it_is_told_what_reads_them_where_something_does(other, helps):
    fault = cell_fault(pd.Series(["0,84", other], name="x"), [0])
    assert fault.advice.endswith(", or of a CSV say with --decimal , (`decimal`) that the comma is decimal") == helps


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("x", "label", "order", "lost"),
    [
        ([1, 2, 3, 4, 5], ["low", "middle", "high", "middle", "low"], "low,mid,high", r"'mid' \(written 'middle'\)"),
        ([1, 2, 3, 4, 5], ["low", "midle", "high", "midle", "low"], "low,middle,high", r"'middle' \(written 'midle'\)"),
        ([1, np.inf, 3, np.inf, 5], ["low", "mid", "high", "mid", "low"], "low,mid,high", "'mid'"),
        ([1, np.inf, 3, np.inf, 5], [0, 1, 2, 1, 0], None, "'1'"),
    ],
)
def test_the_last_items_of_a_class_are_not_left_out(x, label, order, lost):
    frame = pd.DataFrame({"x": x, "label": label})
    with pytest.raises(InputError, match=rf"no item is left of the class {lost}: correct or delete them\.$"):
        from_frame(frame, order=order, skip_bad=True)
    with pytest.raises(InputError) as caught:
        from_frame(frame, order=order)
    assert "skip_bad" not in str(caught.value)  # which would not help


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("label", "notes"),
    [
        ([0, 1, 1, 2], r"left out 1 picture of the list that cannot be found: gone\.jpg \(row 3\)"),
        (
            [0, 1, 2, 2],
            r"left out 1 of 4 rows: no group in 'group' \(row 2\); left out 1 picture .* gone\.jpg \(row 3\)",
        ),
    ],
)
@pytest.mark.parametrize("order", [None, "0..2"])
def test_the_last_pictures_of_a_class_are_not_left_out_either(plant, label, notes, order):
    """Nor where they are left out for different reasons."""
    group = ["p", "q", None if label.count(2) == 2 else "r", "s"]
    frame = pd.DataFrame({"path": ["a.jpg", "b.jpg", "c.jpg", "gone.jpg"], "label": label, "group": group})
    root = plant("a.jpg", "b.jpg", "c.jpg")
    message = rf"^Every class must keep an item: {notes}\. Without these items no item is left of the class '2': corr"
    with pytest.raises(InputError, match=message):
        from_frame(frame, root=root, order=order, skip_bad=True)
    with pytest.raises(InputError, match=r"gone\.jpg \(row 3\)\. Say where they lie with `root` \(--root\)\.$"):
        from_frame(frame, root=root, order=order)  # no flag that would not help
    with pytest.raises(InputError, match=r"Say where they lie with `root` \(--root\), or .* skip_bad=True\."):
        from_frame(frame, root=root, order=order, keep_classes=False)
    data = from_frame(frame, root=root, order=order, skip_bad=True, keep_classes=False)
    assert data.labels.tolist() == [at for at, name in zip(label, group, strict=True) if name is not None and at < 2]


def test_rows_like_others_need_no_item_of_every_class():
    frame = pd.DataFrame({"x": ["1", "2", "big"], "label": [0, 1, 2]})
    like = FeatureRows(columns=("x",), values=np.empty((0, 1)))
    assert from_frame(frame, skip_bad=True, like=like).labels.tolist() == [0, 1]


def test_a_table_without_a_bad_row_is_not_asked_for_the_classes_it_would_lose(monkeypatch):
    monkeypatch.setattr("onepeak.data.frame_rows.lost_classes", None)  # it looks at every label
    assert len(from_frame(pd.DataFrame({"x": [1.0, 2.0], "label": [0, 1]}), skip_bad=True)) == 2


@pytest.mark.parametrize(
    ("label", "order"),
    [
        (["low", "9", "high"], "low,mid,high"),
        (["grade 0", "grade 9", "grade 1"], "grade 0,grade 1,grade 2"),
        (["low", "unknown", "high"], "low,known,high"),
        (["low", "poor quality, cannot grade", "high"], "poor,low,high"),
        (["II", "IV", "III"], "I,II,III"),
    ],
)
def test_a_stray_label_is_left_out_though_a_class_of_the_order_has_no_item(label, order):
    data = from_frame(pd.DataFrame({"x": [1.0, 2.0, 3.0], "label": label}), order=order, skip_bad=True)
    assert (len(data), data.num_left_out) == (2, 1)


@pytest.mark.bad_input
def test_a_forgotten_class_is_to_be_added_and_left_out_only_with_a_note_of_its_own():
    frame = pd.DataFrame({"x": np.arange(20) / 7, "label": ["low", "high", "low", "very poor"] * 5})
    with pytest.raises(InputError) as caught:
        from_frame(frame, order="low,high")
    assert str(caught.value).endswith(
        "Add 'very poor' to `order` (--order) in the right place, or correct these cells."
    )
    data = from_frame(frame, order="low,high", skip_bad=True)
    assert (len(data), data.num_left_out) == (15, 5)
    assert data.notes[0] == "all rows labelled 'very poor' (5) are left out: the order has no such class"
    assert data.notes[1].startswith("left out 5 of 20 rows: a label that the order lacks, 'very poor' (rows 3, 7, ")


@pytest.mark.bad_input
def test_of_a_class_that_a_model_does_not_have_the_rows_may_be_left_out():
    frame = pd.DataFrame({"x": np.arange(20) / 7, "label": ["low", "high", "low", "very poor"] * 5})
    with pytest.raises(InputError, match=r"It names low, high\. Or leave the rows out with skip_bad=True\.$"):
        from_frame(frame, order="low,high", keep_classes=False)


@pytest.mark.bad_input
def test_all_bad_cells_are_told_at_once():
    with pytest.raises(InputError) as caught:
        from_frame(BAD, order="a,b")
    assert str(caught.value) == (
        "4 of 8 rows cannot be used as they are:\n"
        "  The column 'x' must be finite and fit into float32, 1 row does not: 3. Correct these cells, or empty them: "
        "what is missing is filled in.\n"
        "  Every item must have a label, 1 item of 8 has none: row 4. Fill them in.\n"
        "  `order` must name every label of the data, it lacks 'c' (1 item, row 5). It names a, b.\n"
        "  Every row must have a group, 1 row has none in 'group': 6. Give each that belongs to no other a name of its "
        "own.\n"
        "Or leave the rows out with skip_bad=True."
    )


@pytest.mark.bad_input
def test_an_order_that_is_missing_is_told_with_bad_cells():
    with pytest.raises(InputError, match=r"(?s)1 row does not: 3\. .*The order of the labels is not known"):
        from_frame(BAD)
    with pytest.raises(InputError, match=r"^The order of the labels is not known"):  # and is guessed from no rest
        from_frame(BAD, skip_bad=True)


@pytest.mark.bad_input
def test_rows_of_a_list_without_a_path_or_label_are_told_with_missing_pictures(plant):
    paths = ["a.jpg", None, "c.jpg", "gone.jpg", "e.jpg", "f.jpg"]
    frame = pd.DataFrame({"path": paths, "label": [0, 1, None, 1, 0, 1], "age": [1, 2, 3, 4, 5, np.inf]})
    root = plant("a.jpg", "c.jpg", "e.jpg", "f.jpg")
    with pytest.raises(InputError) as caught:
        from_frame(frame, root=root)
    heading, unnamed, label, gone, _ = str(caught.value).splitlines()
    assert heading == "2 of 6 rows cannot be used as they are:"
    assert "Every row must have a `path`, 1 row without one: 1." in unnamed
    assert "1 item of 6 has none: row 2." in label
    assert "1 of 5 pictures does not exist" in gone
    data = from_frame(frame, root=root, skip_bad=True)
    assert data.items.paths == ("a.jpg", "e.jpg", "f.jpg")  # columns that are not read have no bad cells
    assert (data.labels.tolist(), data.num_left_out) == ([0, 0, 1], 3)
    assert data.notes[0] == "left out 2 of 6 rows: no `path` (row 1); no label (row 2)"
    assert "left out 1 picture of the list that cannot be found: gone.jpg (row 3)" in data.notes
