import pandas as pd
import pytest

from onepeak.data.tables.cells import texts_of
from onepeak.data.tables.faults import Fault, missing_cells, refuse_lost, rows_without
from onepeak.errors import InputError

NO_NUMBER = Fault(indices=(1, 3), sentence="A must be a number", advice="Correct it", reason="no number in 'A'")
NO_LABEL = Fault(indices=(3,), sentence="B must have a label", reason="no label")
COLUMN = Fault(indices=(), sentence="C must be no date", advice="Leave it out")
ROWS = range(2, 12)


def refused(*faults, rows=ROWS, skip_bad=False):
    with pytest.raises(InputError) as caught:
        rows_without(faults, rows=rows, skip_bad=skip_bad)
    return str(caught.value)


def test_rows_without_a_text_are_one_fault():
    assert texts_of(pd.Series([7, None, 8], dtype="Int64")) == ["7", "", "8"]
    texts = texts_of(pd.Series(["p", float("nan"), " "]))
    (fault,) = missing_cells("a group in 'patient'", texts, [2, 3, 4], advice="Name it")
    assert (fault.indices, fault.reason, fault.advice) == ((1, 2), "no group in 'patient'", "Name it")
    assert fault.sentence == "Every row must have a group in 'patient', 2 rows without one: 3, 4"
    assert missing_cells("a group", ["p", "q"], [2, 3]) == []


def test_rows_with_a_fault_are_left_out_once_and_one_note_says_why():
    assert rows_without([], rows=ROWS, skip_bad=True) == (list(range(10)), ())
    kept, notes = rows_without([NO_NUMBER, NO_LABEL], rows=ROWS, skip_bad=True)
    assert kept == [0, 2, 4, 5, 6, 7, 8, 9]
    assert notes == ("left out 2 of 10 rows: no number in 'A' (rows 3, 5); no label (row 5)",)


@pytest.mark.bad_input
def test_one_fault_is_one_line_and_several_are_reported_at_once():
    assert refused(NO_NUMBER) == "A must be a number. Correct it. Or leave the rows out with skip_bad=True."
    assert refused(COLUMN) == refused(COLUMN, skip_bad=True) == "C must be no date. Leave it out."
    assert refused(NO_NUMBER, NO_LABEL) == (
        "2 of 10 rows cannot be used as they are:\n"
        "  A must be a number. Correct it.\n"
        "  B must have a label.\n"
        "Or leave the rows out with skip_bad=True."
    )


@pytest.mark.bad_input
def test_a_column_at_fault_is_refused_though_rows_may_be_left_out():
    both = refused(NO_NUMBER, COLUMN)
    assert both == refused(NO_NUMBER, COLUMN, skip_bad=True)
    assert both.endswith("  A must be a number. Correct it.\n  C must be no date. Leave it out.")  # without the flag
    assert refused(COLUMN, COLUMN).startswith("The columns cannot be used as they are:\n")


@pytest.mark.bad_input
def test_more_than_half_of_the_rows_are_not_left_out():
    assert rows_without([NO_NUMBER], rows=range(4), skip_bad=True)[0] == [0, 2]
    most = Fault(indices=(0, 1, 3), sentence="A must be a number")
    assert refused(most, rows=range(4)) == "A must be a number."  # no flag that would not help
    assert refused(most, rows=range(4), skip_bad=True) == (
        "A must be a number. With skip_bad=True at most half of the rows may be left out, not 3 of 4 rows."
    )


@pytest.mark.bad_input
def test_no_class_may_lose_all_its_items():
    with pytest.raises(InputError, match=r"^Every class must keep .* left of '2', '3': left out a; left out b\. Cor"):
        refuse_lost(["2", "3"], ["left out a", "left out b"])
    refuse_lost([], ["left out a"])
