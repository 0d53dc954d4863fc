"""Columns of a table that are said to be names, or not to be read; through the reader that a user calls."""

import shlex

import numpy as np
import pandas as pd
import pytest

from onepeak.data.manifest import FeatureRows
from onepeak.data.tables.columns import likely_groups
from onepeak.data.tables.frame import from_frame
from onepeak.errors import InputError


def test_a_category_in_digits_is_a_category_where_that_is_said():
    frame = pd.DataFrame({"site": [3.0, None, 12.0], "size": [1, 2, 3], "label": [0, 1, 0]})
    assert from_frame(frame).items.categories == {}
    data = from_frame(frame, category=["site"])
    assert data.items.categories == {"site": ("12", "3")}
    np.testing.assert_array_equal(data.items.values, [[1, 1], [np.nan, 2], [0, 3]])
    assert {"read as numbers: size", "read as categories: site"} <= set(data.notes)


def test_columns_to_drop_are_not_read_whatever_they_hold():
    frame = pd.DataFrame({"id": [7, 3], "odd": [1.0, np.inf], "size": [1, 2], "group": ["p", "q"], "label": [0, 1]})
    data = from_frame(frame, drop=["id", "odd", "group"])
    assert (data.items.columns, data.groups) == (("size",), None)
    assert "id" in frame.columns  # the user's table stays as it is
    images = pd.DataFrame({"path": ["a.png", "b.png"], "size": [1, 2], "label": [0, 1]})
    assert from_frame(images, drop=["path"]).items.columns == ("size",)


SITES = FeatureRows(columns=("site",), values=np.empty((0, 1)))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"drop": ["sit"]}, r"Unknown column 'sit'\. Did you mean 'site'\? .* `drop` must name"),
        ({"drop": ["label"]}, r"^`drop` must name .* features, got 'label', the column of labels\."),
        ({"drop": ["scan"], "group": "scan"}, "must name .* features, got 'scan', the column of groups"),
        ({"drop": ["site"], "path": "scan"}, r"`drop` does nothing for a list of images"),
        ({"drop": ["site"], "category": ["site"]}, "`category` .* got 'site', which `drop` leaves out"),
        ({"drop": ["site"], "like": SITES}, "`drop` does nothing for rows that are read with `like`"),
        ({"category": ["sit"]}, r"Unknown column 'sit'\. Did you mean 'site'\? .* must name columns that are features"),
        ({"category": ["label"]}, r"^`category` must name .* features, got 'label', the column of labels\."),
        ({"category": ["scan"], "group": "scan"}, "must name .* features, got 'scan', the column of groups"),
        ({"category": "site"}, r"`category` must be a list of columns, got the text 'site': write \['site'\]"),
        ({"category": ["site"], "path": "scan"}, r"`category` does nothing for a list of images"),
        ({"category": ["site"], "like": SITES}, "`category` does nothing for rows that are read with `like`"),
    ],
)
def test_categories_must_be_features(settings, message):
    frame = pd.DataFrame({"site": [1, 2], "scan": ["a.png", "b.png"], "label": [0, 1]})
    with pytest.raises(InputError, match=message):
        from_frame(frame, **settings)


@pytest.mark.parametrize("column", ["patient", "Patient_ID", "PatientID", "case no", "slide", "ID"])
def test_a_column_that_is_called_like_groups_is_reported_with_the_flag(column):
    (note,) = likely_groups(pd.DataFrame({column: [1, 1, 2, 3], "age": [1, 1, 2, 3]}))
    assert note == (
        f"{column}: 3 names with 1.3 rows each; if these are persons or things that recur, keep their rows together "
        f"with --group {shlex.quote(column)}"
    )


@pytest.mark.parametrize(("column", "values"), [("id", [1, 2, 3]), ("case", [0, 1, 1]), ("casement", [1, 1, 2, 3])])
def test_a_column_that_would_group_nothing_is_no_group(column, values):
    assert list(likely_groups(pd.DataFrame({column: values}))) == []


def names(num_names, rows_each, name="who"):
    return pd.DataFrame({name: [f"p{row % num_names}" for row in range(num_names * rows_each)]})


@pytest.mark.parametrize(("num_names", "rows_each"), [(20, 2), (20, 20), (1_444, 3)])
def test_many_names_with_few_rows_each_may_be_groups(num_names, rows_each):
    frame = names(num_names, rows_each)
    (note,) = likely_groups(frame)
    assert note.startswith(f"who: {num_names:,} names with {rows_each} rows each; if these are persons or things")
    assert list(likely_groups(frame.astype("category"))) == list(likely_groups(frame.astype("string"))) == [note]
    for few_names_or_many_rows_each in ((19, 5), (20, 21), (40, 1)):
        assert list(likely_groups(names(*few_names_or_many_rows_each))) == []


@pytest.mark.parametrize("column", ["shop_id", "Shop ID", "shopId"])
def test_of_numbers_only_those_called_an_id_may_be_groups(column):
    numbers = [row // 3 for row in range(90)]
    (note,) = likely_groups(pd.DataFrame({column: numbers, "age": numbers, "acid": numbers}))
    assert note.startswith(f"{column}: 30 names")


def test_dates_are_no_groups_and_missing_names_do_not_count():
    days = [f"2024-03-{row % 30 + 1:02}" for row in range(90)]
    assert list(likely_groups(pd.DataFrame({"day": days}))) == []
    assert list(likely_groups(pd.DataFrame({"patient": [{"a": 1}, {"a": 1}, {"a": 2}]}))) == []
    (note,) = likely_groups(pd.concat([names(30, 3), pd.DataFrame({"who": [None] * 10})]))
    assert note.startswith("who: 30 names with 3 rows each;")
