"""Lists and tables as their user writes them: long because one reader takes both, each with ways to be wrong."""

import numpy as np
import pandas as pd
import pytest

from onepeak.data.frame import from_frame
from onepeak.data.manifest import FeatureRows, ImageFiles
from onepeak.data.open import open_data
from onepeak.errors import InputError


def test_every_other_column_is_a_feature():
    frame = pd.DataFrame({"a": [1, 2], "grade": ["low", "high"], "b": [3, 4], "person": ["p", "q"]})
    data = from_frame(frame, label="grade", order="low,high", group="person", name="mine")
    assert isinstance(data.items, FeatureRows)
    assert data.items.columns == ("a", "b")
    assert data.groups == ("p", "q")
    assert data.name == "mine"
    assert data.notes == ("order: low < high", "read as numbers: a, b", "2 groups from the column 'person'")


def test_a_column_called_group_is_taken_as_groups():
    data = from_frame(pd.DataFrame({"a": [1, 2], "label": [0, 1], "group": [7, 7]}))
    assert data.groups == ("7", "7")
    assert data.items.columns == ("a",)


def test_an_ordered_categorical_brings_its_order():
    grades = pd.Categorical(["high", "low"], categories=["low", "middle", "high"], ordered=True)
    data = from_frame(pd.DataFrame({"a": [1, 2], "label": grades}))
    assert data.classes == ("low", "middle", "high")
    assert data.labels.tolist() == [2, 0]
    assert data.notes[0] == "order from the column's categories: low < middle < high"


def test_a_categorical_without_an_order_does_not():
    with pytest.raises(InputError, match="never guessed"):
        from_frame(pd.DataFrame({"a": [1, 2], "label": pd.Categorical(["high", "low"])}))


def test_floats_that_are_whole_are_integer_labels():
    assert from_frame(pd.DataFrame({"a": [1, 2], "label": [4.0, 3.0]})).classes == ("3", "4")


def test_a_column_path_makes_a_list_of_pictures(plant):
    root = plant("1.jpg", "2.jpg")
    frame = pd.DataFrame({"path": ["2.jpg", "1.jpg"], "label": [5, 3], "age": [50, 60]})
    data = from_frame(frame, root=root)
    assert data.items == ImageFiles(root=root, paths=("2.jpg", "1.jpg"))
    assert data.labels.tolist() == [1, 0]
    assert data.notes[-1] == "left out 1 column of the list: age"


def test_labels_and_groups_of_missing_pictures_are_left_out_with_them(plant):
    frame = pd.DataFrame({"path": ["a.jpg", "b.jpg", "c.jpg"], "label": [0, 1, 1], "group": ["p", None, "q"]})
    data = from_frame(frame, root=plant("a.jpg", "c.jpg"), skip_bad=True)
    assert data.items.paths == ("a.jpg", "c.jpg")
    assert data.labels.tolist() == [0, 1]
    assert data.groups == ("p", "q")
    assert data.num_left_out == 1
    assert data.take([0]).num_left_out == 1
    assert (data.rows, data.take([1]).rows) == ((0, 2), (2,))


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
    monkeypatch.setattr("onepeak.data.frame.lost_classes", None)  # it looks at every label
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


def test_a_list_without_groups_is_told_of_a_column_that_looks_like_them(plant):
    root = plant("a.jpg", "b.jpg", "c.jpg")
    frame = pd.DataFrame({"path": ["a.jpg", "b.jpg", "c.jpg"], "label": [0, 1, 1], "patient": ["P1", "P1", "P2"]})
    assert from_frame(frame, root=root).notes[-1].startswith("the column 'patient' has 2 values for 3 pictures")
    assert not any("values for" in note for note in from_frame(frame, root=root, group="patient").notes)


def test_formatted_numbers_stop_as_those_of_a_csv_do_unless_they_are_said_to_be_names(tmp_path):
    cells = {"x": ["1,234.50", "12.5", "7"], "label": [0, 1, 1]}
    frame = pd.DataFrame(cells, index=[2, 3, 4])  # as the rows of a CSV are called
    frame.to_csv(tmp_path / "table.csv", index=False)
    told = []
    for opened in (lambda: from_frame(frame), lambda: open_data(tmp_path / "table.csv")):
        with pytest.raises(InputError) as error:
            opened()
        told.append(str(error.value).partition("table.csv: ")[2] or str(error.value))
    assert told[1].startswith(told[0])
    assert told[0].startswith(
        "The column 'x' has numbers with separators of thousands: '1,234.50' (row 2). Write 1234.50"
    )
    assert from_frame(frame, category=["x"]).items.categories["x"] == ("1,234.50", "12.5", "7")


def test_a_category_in_digits_is_a_category_where_that_is_said():
    frame = pd.DataFrame({"site": [3.0, None, 12.0], "size": [1, 2, 3], "label": [0, 1, 0]})
    assert from_frame(frame).items.categories == {}
    data = from_frame(frame, category=["site"])
    assert data.items.categories == {"site": ("12", "3")}
    np.testing.assert_array_equal(data.items.values, [[1, 1], [np.nan, 2], [0, 3]])
    assert {"read as numbers: size", "read as categories: site"} <= set(data.notes)


def test_a_column_of_names_may_be_called_anything():
    frame = pd.DataFrame({"self": [1, 2, 1], "size": [1, 2, 3], "label": [0, 1, 0]}, index=[5, 5, 5])
    data = from_frame(frame, category=["self"])
    assert (data.items.categories, data.items.values.tolist()) == ({"self": ("1", "2")}, [[0, 1], [1, 2], [0, 3]])
    assert frame["self"].tolist() == [1, 2, 1]  # the user's table stays as it is


def test_a_column_that_is_said_to_be_names_stays_however_little_it_repeats():
    frame = pd.DataFrame({"code": [7 * number for number in range(12)], "size": [1.0, 2.0] * 6, "label": [0, 1] * 6})
    assert len(from_frame(frame, category=["code"]).items.categories["code"]) == 12


def test_columns_to_drop_are_not_read_whatever_they_hold():
    frame = pd.DataFrame({"id": [7, 3], "odd": [1.0, np.inf], "size": [1, 2], "group": ["p", "q"], "label": [0, 1]})
    data = from_frame(frame, drop=["id", "odd", "group"])
    assert (data.items.columns, data.groups) == (("size",), None)
    assert "id" in frame.columns  # the user's table stays as it is
    pictures = pd.DataFrame({"path": ["a.png", "b.png"], "size": [1, 2], "label": [0, 1]})
    assert from_frame(pictures, drop=["path"]).items.columns == ("size",)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"drop": ["sit"]}, r"Unknown column 'sit'\. Did you mean 'site'\? .* `drop` \(--drop\) must name"),
        ({"drop": ["label"]}, r"^`drop` \(--drop\) must name .* features, got 'label', the column of labels\."),
        ({"drop": ["scan"], "group": "scan"}, "must name .* features, got 'scan', the column of groups"),
        ({"drop": ["scan"], "path": "scan"}, "must name .* features, got 'scan', the column of pictures"),
        ({"drop": ["site"], "path": "scan"}, r"`drop` \(--drop\) has no use for a list of pictures"),
        ({"drop": ["site"], "category": ["site"]}, "`category` .* got 'site', which `drop` leaves out"),
        (
            {"drop": ["site"], "like": FeatureRows(columns=("site",), values=np.empty((0, 1)))},
            "`drop` .* has no use for rows that are read as others are",
        ),
        ({"category": ["sit"]}, r"Unknown column 'sit'\. Did you mean 'site'\? .* must name columns that are features"),
        (
            {"category": ["label"]},
            r"^`category` \(--category\) must name .* features, got 'label', the column of labels\.",
        ),
        ({"category": ["scan"], "group": "scan"}, "must name .* features, got 'scan', the column of groups"),
        ({"category": "site"}, r"`category` must be a list of columns, got the text 'site': write \['site'\]"),
        ({"category": ["site"], "path": "scan"}, r"`category` \(--category\) has no use for a list of pictures"),
        (
            {"category": ["site"], "like": FeatureRows(columns=("site",), values=np.empty((0, 1)))},
            "`category` .* has no use for rows that are read as others are",
        ),
    ],
)
def test_categories_must_be_features(settings, message):
    frame = pd.DataFrame({"site": [1, 2], "scan": ["a.png", "b.png"], "label": [0, 1]})
    with pytest.raises(InputError, match=message):
        from_frame(frame, **settings)


def test_the_index_of_the_frame_changes_nothing():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "label": [0, 1, 0]})
    other = frame.set_index(pd.Index(["x", "x", "z"]))
    np.testing.assert_array_equal(from_frame(frame).items.values, from_frame(other).items.values)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("frame", "settings", "message"),
    [
        ([[1, 2]], {}, "`frame` must be a pandas DataFrame, got list"),
        (pd.DataFrame({"a": [], "label": []}), {}, "The table must have rows, it has none"),
        (
            pd.DataFrame({"a": [1], "Label": [1]}),
            {},
            r"must be said with `label` \(--label COLUMN\), as none is called 'label': a, Label\.",
        ),
        (
            pd.DataFrame({"a": [1], "grade": [1]}),
            {"label": "grad"},
            r"Unknown column 'grad'. Did you mean 'grade'\? Known: a, grade. Name the column with `label` \(--label\)",
        ),
        (pd.DataFrame({"a": [1], "label": [1]}), {"group": "g"}, r"Unknown column 'g'.* with `group` \(--group\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "must have different names, got a more than once"),
        (pd.DataFrame([[1, 2]]), {}, r"named by text: frame.columns = frame.columns.astype\(str\)"),
        (
            pd.DataFrame({"a": [1, 2], "label": [1, 2], "group": ["p", None]}, index=[10, 11]),
            {},
            "Every row must have a group, 1 row has none in 'group': 11",
        ),
        (pd.DataFrame({"a": [1, 2], "label": [1, None]}, index=[10, 11]), {}, "1 item of 2 has none: row 11"),
        (pd.DataFrame({"a": [1, 2], "label": [1, 2]}), {"root": "."}, "`root` has no use for a table of features"),
        (pd.DataFrame({"a": [1, 2], "label": [1, 1]}), {}, "There must be at least 2 classes, all 2 items"),
    ],
)
def test_a_frame_that_is_no_data_set_is_refused(frame, settings, message):
    with pytest.raises(InputError, match=message):
        from_frame(frame, **settings)


def test_a_table_can_be_read_like_another():
    like = FeatureRows(columns=("b", "a"), values=np.empty((0, 2)), categories={"a": ("x", "7")})
    frame = pd.DataFrame({"a": [7, 8, 7], "b": ["1", "", "3"], "label": [0, 1, 1], "more": [1j, 1j, 1j]})
    data = from_frame(frame, like=like)
    assert (data.items.columns, data.items.categories) == (like.columns, like.categories)
    np.testing.assert_array_equal(data.items.values, [[1, 1], [np.nan, np.nan], [3, 1]])
    assert "1 name of the column 'a' not seen in training, taken as missing: 8" in data.notes
    assert "2 missing values in b, a" in data.notes


@pytest.mark.bad_input
def test_pictures_cannot_be_read_like_a_table():
    like = FeatureRows(columns=("a",), values=np.empty((0, 1)))
    frame = pd.DataFrame({"path": ["a.png"], "label": [0]})
    with pytest.raises(InputError, match="`like` is for a table of features, and the column 'path' names pictures"):
        from_frame(frame, like=like)
