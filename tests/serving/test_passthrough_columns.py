import datetime

import numpy as np
import pandas as pd
import pytest

from onepeak.errors import InputError
from onepeak.serving.passthrough_columns import PassthroughColumns, beside, passthrough_columns

TABLE = pd.DataFrame({"id": ["007", "", "8"], "age, years": ["61", "58", None], "ward": ["A", "B", "C"]})


@pytest.mark.parametrize("keep", [["ward,id"], ["ward", "id"], ["ward, id", "ward"]])
def test_columns_come_in_the_order_of_their_names_and_once(keep):
    assert passthrough_columns(TABLE, keep) == PassthroughColumns(
        names=("ward", "id"), rows=(("A", "007"), ("B", None), ("C", "8"))
    )


def test_a_name_with_a_comma_is_a_column_where_there_is_one():
    assert passthrough_columns(TABLE, ["age, years"]).rows == (("61",), ("58",), (None,))


def test_cells_of_typed_columns_become_what_csv_and_json_can_hold():
    frame = pd.DataFrame(
        {
            "n": [1, 2],
            "x": [0.5, np.inf],
            "gap": pd.array([7, None], dtype="Int64"),
            "ok": [True, False],
            "day": [datetime.date(2020, 1, 2), None],
            "list": [np.array([1, 2]), np.array([])],
        }
    )
    passthrough = passthrough_columns(frame, list(frame.columns))
    assert passthrough.rows == ((1, 0.5, 7, True, "2020-01-02", "[1 2]"), (2, "inf", None, False, None, "[]"))
    assert [type(cell) for cell in passthrough.rows[0]] == [int, float, int, bool, str, str]


def test_rows_without_kept_columns_have_nothing_beside_them():
    assert list(beside("ab", None)) == [("a", ()), ("b", ())]
    assert list(beside("ab", PassthroughColumns(names=("n",), rows=((1,), (2,))))) == [("a", (1,)), ("b", (2,))]


@pytest.mark.bad_input
def test_an_unknown_column_is_answered_with_the_nearest():
    with pytest.raises(
        InputError, match=r"Unknown `--keep` column 'wrad'\. Did you mean 'ward'\? Known: id, age, years"
    ):
        passthrough_columns(TABLE, ["id,wrad"])
