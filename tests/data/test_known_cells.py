import numpy as np
import pandas as pd
import pytest

from onepeak.data.known_cells import known_cells
from onepeak.errors import InputError


def test_names_stay_as_they_are_written():
    frame = pd.DataFrame({"site": ["0012", " 7 ", "n/a", "true"], "n": ["1", "", "3", "4"]}, dtype=object)
    found, wrong = known_cells(frame, columns=["n", "site"], categories=["site"])
    assert found["site"].tolist() == ["0012", " 7 ", "n/a", "true"]
    assert list(found.columns) == ["n", "site"]
    np.testing.assert_array_equal(found["n"], [1, np.nan, 3, 4])
    assert wrong == {}


def test_names_of_another_type_are_left_alone():
    frame = pd.DataFrame({"site": [12, 7]})
    assert known_cells(frame, columns=["site"], categories=["site"])[0]["site"].tolist() == [12, 7]


def test_cells_without_a_number_are_told_by_column():
    frame = pd.DataFrame({"a": ["1", "x"], "b": ["inf", "2"], "c": ["y", "z"]}, dtype=object)
    _, wrong = known_cells(frame, columns=["a", "b"], categories=[])
    assert wrong == {
        "a": {1: "`a` must be a number, got 'x'"},
        "b": {0: "`b` must be finite and fit into float32, got inf"},
    }


def test_the_table_given_stays_as_it_is():
    frame = pd.DataFrame({"a": ["1"], "b": [" x "]}, dtype=object)
    known_cells(frame, columns=["a", "b"], categories=["b"])
    assert frame.to_dict("list") == {"a": ["1"], "b": [" x "]}


@pytest.mark.bad_input
def test_a_column_that_is_not_there_is_named():
    with pytest.raises(InputError, match="must have the columns a, b, it lacks b"):
        known_cells(pd.DataFrame({"a": ["1"]}), columns=["a", "b"], categories=[])
