import numpy as np
import pandas as pd
import pytest
import torch

from onepeak.errors import InputError
from onepeak.estimator.groups import numbers_of_groups


@pytest.mark.parametrize(
    "groups",
    [
        ["b", "a", "b", "c"],
        ("b", 1, "b", "1"),
        [(1, 2), (2, 1), (1, 2), (2, 2)],
        np.array([7, -1, 7, 0]),
        np.array(["2020", "2019", "2020", "2021"], dtype="M8[D]"),
        torch.tensor([7, -1, 7, 0]),
        pd.Series(["b", "a", "b", "c"], index=[3, 2, 1, 0], dtype="category"),
        pd.Series([7, 1, 7, 0], dtype="Int64"),
    ],
    ids=lambda groups: type(groups).__name__,
)
def test_groups_of_every_kind_are_numbered_by_their_first_rows(groups):
    assert numbers_of_groups(groups, 4).tolist() == [0, 1, 0, 2]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "groups",
    [
        ["a", None, "b"],
        np.array([1, np.nan, 2]),
        pd.Series([1, None, 2], dtype="Int64"),
        np.array(["2020", "NaT", "2021"], dtype="M8[D]"),
        pd.Series(["a", None, "b"], dtype="category"),
    ],
)
def test_a_missing_group_is_named_by_its_place(groups):
    with pytest.raises(
        InputError, match=r"`groups` must have no missing value, got 1 row without .*, at positions 1: give"
    ):
        numbers_of_groups(groups, 3)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], r"`groups` must have one label for each of the 3 rows, got shape \(2,\)"),
        (np.zeros((3, 1)), r"`groups` must have one label for each of the 3 rows, got shape \(3, 1\)"),
        (np.array(1), r"`groups` must have one label for each of the 3 rows, got shape \(\)"),
        ("abc", "`groups` must be a sequence or an array with a label for each row, got 'abc'"),
        (3, "`groups` must be a sequence or an array with a label for each row, got 3"),
        ({"a", "b", "c"}, "`groups` must be a sequence or an array with a label for each row, got {"),
        ([["a"], ["b"], ["c"]], "`groups` must have labels that can be hashed, .*: unhashable type: 'list'"),
    ],
)
def test_what_is_no_label_a_row_is_refused(groups, message):
    with pytest.raises(InputError, match=message):
        numbers_of_groups(groups, 3)
