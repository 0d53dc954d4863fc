import pandas as pd
import pytest

from onepeak.data.groups import group_faults, group_names, likely_groups


def test_names_are_text_without_spaces_around_them():
    assert group_names(pd.Series([7, None, 8], dtype="Int64")) == ["7", "", "8"]
    assert group_names(pd.Series([" p ", float("nan"), ""])) == ["p", "", ""]


def test_rows_without_a_group_are_one_fault():
    assert group_faults(pd.Series(["p", "q"])) == []
    (fault,) = group_faults(pd.Series(["p", None, " "], index=[2, 3, 4], name="patient"))
    assert (fault.places, fault.reason) == ((1, 2), "no group in 'patient'")
    assert fault.sentence == "Every row must have a group, 2 rows have none in 'patient': 3, 4"


@pytest.mark.parametrize("column", ["patient", "Patient_ID", "PatientID", "case no", "slide", "ID"])
def test_a_column_that_looks_like_groups_is_told_with_the_flag(column):
    (note,) = likely_groups(pd.DataFrame({column: ["P1", "P1", "P2"], "age": [1, 1, 2]}))
    assert note.startswith(f"the column {column!r} has 2 values for 3 pictures: give `group` (--group ")


@pytest.mark.parametrize(("column", "values"), [("id", [1, 2, 3]), ("study", ["A"] * 3), ("casement", [1, 1, 2])])
def test_a_column_that_would_group_nothing_is_no_group(column, values):
    assert list(likely_groups(pd.DataFrame({column: values}))) == []
