"""Lists and tables as their user writes them."""

import numpy as np
import pandas as pd
import pytest

from onepeak.data.manifest import FeatureRows, ImageFiles
from onepeak.data.source import DataSource
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


def test_the_groups_of_some_items_are_counted_anew():
    frame = pd.DataFrame({"a": [1, 2, 3], "label": ["low", "high", "low"], "person": ["p", "q", "p"]})
    data = from_frame(frame, order="low,high", group="person")
    assert "2 groups from the column 'person'" in data.notes
    assert data.take([0, 2]).notes == (*data.notes[:-1], "1 group from the column 'person'")


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


def test_a_column_path_makes_a_list_of_images(plant):
    root = plant("1.jpg", "2.jpg")
    frame = pd.DataFrame({"path": ["2.jpg", "1.jpg"], "label": [5, 3], "age": [50, 60]})
    data = from_frame(frame, root=root)
    assert data.items == ImageFiles(root=root, paths=("2.jpg", "1.jpg"))
    assert data.labels.tolist() == [1, 0]
    assert data.notes[-1] == "left out 1 column of the list: age"


def test_labels_and_groups_of_missing_images_are_left_out_with_them(plant):
    frame = pd.DataFrame({"path": ["a.jpg", "b.jpg", "c.jpg"], "label": [0, 1, 1], "group": ["p", None, "q"]})
    data = from_frame(frame, root=plant("a.jpg", "c.jpg"), skip_bad=True)
    assert data.items.paths == ("a.jpg", "c.jpg")
    assert data.labels.tolist() == [0, 1]
    assert data.groups == ("p", "q")
    assert data.num_left_out == 1
    assert data.take([0]).num_left_out == 1
    assert (data.rows, data.take([1]).rows) == ((0, 2), (2,))


def test_a_list_without_groups_is_told_of_a_column_that_looks_like_them(plant):
    root = plant("a.jpg", "b.jpg", "c.jpg", "d.jpg")
    patients = ["P1", "P1", "P2", "P3"]
    frame = pd.DataFrame({"path": ["a.jpg", "b.jpg", "c.jpg", "d.jpg"], "label": [0, 1, 1, 0], "patient": patients})
    assert from_frame(frame, root=root).notes[-1].startswith("patient: 3 names with 1.3 rows each;")
    assert not any("names with" in note for note in from_frame(frame, root=root, group="patient").notes)


def test_dates_of_a_frame_are_left_out_as_those_of_a_csv_are():
    days = pd.date_range("2024-03-01", periods=12)
    size = {"size": [n / 7 for n in range(12)], "label": [0, 1] * 6}
    notes = from_frame(pd.DataFrame({"day": days.astype(str), **size})).notes
    assert "left out, as dates: day; to use them, add" in notes[1]
    for column in (days, days.tz_localize("UTC"), days.date, [*days[:-1], None], days + pd.Timedelta(90, "s")):
        assert from_frame(pd.DataFrame({"day": column, **size})).notes == notes


def test_formatted_numbers_stop_as_those_of_a_csv_do_unless_they_are_said_to_be_names(tmp_path):
    frame = pd.DataFrame({"x": ["1,234.50", "12.5", "7"], "label": [0, 1, 1]}, index=[2, 3, 4])  # as a CSV calls them
    frame.to_csv(tmp_path / "table.csv", index=False)
    found = r"The column 'x' has formatted numbers: '1,234\.50' \(row 2\)\. Write numbers as 1234\.5, or "
    with pytest.raises(InputError, match=f"^{found}"):
        from_frame(frame)
    with pytest.raises(InputError, match=rf"table\.csv: {found}"):
        DataSource(tmp_path / "table.csv").open()
    assert from_frame(frame, category=["x"]).items.categories["x"] == ("1,234.50", "12.5", "7")


def test_the_index_of_the_frame_changes_nothing():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "label": [0, 1, 0]})
    other = frame.set_index(pd.Index(["x", "x", "z"]))
    np.testing.assert_array_equal(from_frame(frame).items.values, from_frame(other).items.values)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("frame", "settings", "message"),
    [
        ([[1, 2]], {}, "`frame` must be a pandas DataFrame, got list"),
        (pd.DataFrame({"a": [], "label": []}), {}, "The table must have at least one row, got none"),
        (
            pd.DataFrame({"a": [1], "Label": [1]}),
            {},
            r"must be named with `label`, because none is called 'label': a, Label\.",
        ),
        (
            pd.DataFrame({"a": [1], "grade": [1]}),
            {"label": "grad"},
            r"Unknown column 'grad'. Did you mean 'grade'\? Known: a, grade. Name the column with `label`",
        ),
        (pd.DataFrame({"a": [1], "label": [1]}), {"group": "g"}, r"Unknown column 'g'.* with `group`"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "must have different names, got a more than once"),
        (pd.DataFrame([[1, 2]]), {}, r"must be text: use frame.columns = frame.columns.astype\(str\)"),
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
def test_images_cannot_be_read_like_a_table():
    like = FeatureRows(columns=("a",), values=np.empty((0, 1)))
    frame = pd.DataFrame({"path": ["a.png"], "label": [0]})
    with pytest.raises(InputError, match="`like` is for a table of features, but the column 'path' names images"):
        from_frame(frame, like=like)
