"""Columns of a table that are said to be names, or not to be read; through the reader that a user calls."""

import numpy as np
import pandas as pd
import pytest

from onepeak.data.frame import from_frame
from onepeak.data.manifest import FeatureRows
from onepeak.errors import InputError


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
        ({"drop": ["site"], "path": "scan"}, r"`drop` \(--drop\) has no use for a list of images"),
        ({"drop": ["site"], "category": ["site"]}, "`category` .* got 'site', which `drop` leaves out"),
        (
            {"drop": ["site"], "like": FeatureRows(columns=("site",), values=np.empty((0, 1)))},
            "`drop` .* has no use for rows that are read with `like`",
        ),
        ({"category": ["sit"]}, r"Unknown column 'sit'\. Did you mean 'site'\? .* must name columns that are features"),
        (
            {"category": ["label"]},
            r"^`category` \(--category\) must name .* features, got 'label', the column of labels\.",
        ),
        ({"category": ["scan"], "group": "scan"}, "must name .* features, got 'scan', the column of groups"),
        ({"category": "site"}, r"`category` must be a list of columns, got the text 'site': write \['site'\]"),
        ({"category": ["site"], "path": "scan"}, r"`category` \(--category\) has no use for a list of images"),
        (
            {"category": ["site"], "like": FeatureRows(columns=("site",), values=np.empty((0, 1)))},
            "`category` .* has no use for rows that are read with `like`",
        ),
    ],
)
def test_categories_must_be_features(settings, message):
    frame = pd.DataFrame({"site": [1, 2], "scan": ["a.png", "b.png"], "label": [0, 1]})
    with pytest.raises(InputError, match=message):
        from_frame(frame, **settings)
