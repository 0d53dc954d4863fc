import shlex

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


@pytest.mark.parametrize(("num_names", "rows_each"), [(19, 5), (20, 21), (40, 1)])
def test_few_names_many_rows_each_and_names_that_do_not_repeat_are_no_groups(num_names, rows_each):
    assert list(likely_groups(names(num_names, rows_each))) == []


@pytest.mark.parametrize("column", ["shop_id", "Shop ID", "shopId"])
def test_of_numbers_only_those_called_an_id_may_be_groups(column):
    numbers = [row // 3 for row in range(90)]
    (note,) = likely_groups(pd.DataFrame({column: numbers, "age": numbers, "acid": numbers}))
    assert note.startswith(f"{column}: 30 names")


def test_dates_are_no_groups_and_missing_names_do_not_count():
    days = [f"2024-03-{row % 30 + 1:02}" for row in range(90)]
    assert list(likely_groups(pd.DataFrame({"day": days}))) == []
    (note,) = likely_groups(pd.concat([names(30, 3), pd.DataFrame({"who": [None] * 10})]))
    assert note.startswith("who: 30 names with 3 rows each;")


def test_cells_that_are_no_names_are_passed_over():
    assert list(likely_groups(pd.DataFrame({"patient": [{"a": 1}, {"a": 1}, {"a": 2}]}))) == []
