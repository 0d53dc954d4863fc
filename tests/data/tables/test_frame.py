"""Lists and tables as their user writes them."""

import numpy as np
import pandas as pd
import pytest

from onepeak.data.manifest import FeatureRows
from onepeak.data.tables.frame import from_frame
from onepeak.errors import InputError


def test_every_other_column_is_a_feature():
    frame = pd.DataFrame({"a": [1, 2], "grade": ["low", "high"], "b": [3, 4], "person": ["p", "q"]})
    data = from_frame(frame, label="grade", order="low,high", group="person", name="mine")
    assert isinstance(data.items, FeatureRows)
    assert data.items.columns == ("a", "b")
    assert data.groups == ("p", "q")
    assert data.name == "mine"
    assert data.notes == ("order: low < high", "read as numbers: a, b", "2 groups from the column 'person'")


def test_names_that_may_be_groups_are_noted_where_they_are_trained_on_and_only_there():
    patient = [f"p{number // 4}" for number in range(120)]
    frame = pd.DataFrame({"a": np.arange(120) % 7 / 2, "patient": patient, "label": np.arange(120) % 3})

    def told(**how):
        return [note for note in from_frame(frame, **how).notes if "names with" in note]

    (note,) = told()
    assert note.startswith("patient: 30 names with 4 rows each; if these are persons or things that recur")
    assert told(group="patient") == told(drop=["patient"]) == told(like=from_frame(frame).items) == []


def test_a_column_called_group_is_taken_as_groups():
    data = from_frame(pd.DataFrame({"a": [1, 2, 3], "label": [0, 1, 0], "group": [7, 7, 8]}))
    assert (data.groups, data.items.columns) == (("7", "7", "8"), ("a",))
    assert "2 groups from the column 'group'" in data.notes
    assert data.take([0, 1]).notes == (*data.notes[:-1], "1 group from the column 'group'")


def test_an_ordered_categorical_brings_its_order():
    grades = pd.Categorical(["high", "low"], categories=["low", "middle", "high"], ordered=True)
    data = from_frame(pd.DataFrame({"a": [1, 2], "label": grades}))
    assert data.classes == ("low", "middle", "high")
    assert data.labels.tolist() == [2, 0]
    assert data.notes[0] == "order from the column's categories: low < middle < high"


def test_floats_that_are_whole_are_integer_labels_and_categories_need_an_order():
    assert from_frame(pd.DataFrame({"a": [1, 2], "label": [4.0, 3.0]})).classes == ("3", "4")
    with pytest.raises(InputError, match="never guessed"):
        from_frame(pd.DataFrame({"a": [1, 2], "label": pd.Categorical(["high", "low"])}))


def test_labels_and_groups_of_missing_images_are_left_out_with_them(plant):
    frame = pd.DataFrame({"path": ["a.jpg", "b.jpg", "c.jpg"], "label": [0, 1, 1], "group": ["p", None, "q"]})
    data = from_frame(frame, root=plant("a.jpg", "c.jpg"), skip_bad=True)
    assert data.items.paths == ("a.jpg", "c.jpg")
    assert data.labels.tolist() == [0, 1]
    assert data.groups == ("p", "q")
    assert data.num_left_out == 1
    assert data.take([0]).num_left_out == 1
    assert (data.rows, data.take([1]).rows) == ((0, 2), (2,))


def test_dates_of_a_frame_are_left_out_as_those_of_a_csv_are():
    days = pd.date_range("2024-03-01", periods=12)
    size = {"size": [n / 7 for n in range(12)], "label": [0, 1] * 6}
    notes = from_frame(pd.DataFrame({"day": days.astype(str), **size})).notes
    assert "left out, as dates: day; to use them, add" in notes[1]
    for column in (days, days.tz_localize("UTC"), days.date, [*days[:-1], None], days + pd.Timedelta(90, "s")):
        assert from_frame(pd.DataFrame({"day": column, **size})).notes == notes


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("frame", "settings", "message"),
    [
        ([[1, 2]], {}, "`frame` must be a pandas DataFrame, got list"),
        (pd.DataFrame({"a": [], "label": []}), {}, "The table must have at least one row, got none"),
        (pd.DataFrame({"a": [1], "Label": [1]}), {}, r"must be named with `label`, because none .*: a, Label\."),
        (pd.DataFrame({"a": [1], "grade": [1]}), {"label": "grad"}, r"'grad'. Did you mean 'grade'\? .* `label`"),
        (pd.DataFrame({"a": [1], "label": [1]}), {"group": "g"}, r"Unknown column 'g'.* with `group`"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "must have different names, got a more than once"),
        (pd.DataFrame([[1, 2]]), {}, r"must be text: use frame.columns = frame.columns.astype\(str\)"),
        (pd.DataFrame({"a": [1, 2], "label": [1, 2], "group": ["p", None]}), {}, "a group in 'group', 1 row .*: 1"),
        (pd.DataFrame({"a": [1, 2], "label": [1, None]}, index=[10, 11]), {}, "1 sample of 2 has none: row 11"),
        (pd.DataFrame({"a": [1, 2], "label": [1, 2]}), {"root": "."}, "`root` does nothing for a table of features"),
        (pd.DataFrame({"a": [1, 2], "label": [1, 1]}), {}, "There must be at least 2 classes, all 2 samples"),
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
    lost = pd.DataFrame({"a": [7, 8, 7], "b": ["1", "2", "big"], "label": [0, 1, 2]})
    assert from_frame(lost, skip_bad=True, like=like).labels.tolist() == [0, 1]  # no sample of every class is needed


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


@pytest.mark.bad_input
@pytest.mark.parametrize("skip_bad", [False, True])
def test_an_order_that_is_missing_is_reported_with_bad_cells(skip_bad):
    frame = pd.DataFrame({"x": [1.0, np.inf, 3.0], "label": ["a", "b", None]}, index=[2, 3, 3])
    with pytest.raises(InputError, match=r"(?s)inf \(row 3\)\. .*The order of the labels is not known"):
        from_frame(frame, skip_bad=skip_bad)


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
