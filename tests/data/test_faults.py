from dataclasses import replace

import pytest

from onepeak.data.faults import Fault, refuse_lost, rows_without
from onepeak.errors import InputError

NO_NUMBER = Fault(places=(1, 3), sentence="A must be a number", advice="Correct it", reason="no number in 'A'")
NO_LABEL = Fault(places=(3,), sentence="B must have a label", reason="no label")
COLUMN = Fault(places=(), sentence="C must be no date", advice="Leave it out")
ROWS = range(2, 12)


def refused(*faults, rows=ROWS, skip_bad=False, lost=None, also=()):
    with pytest.raises(InputError) as caught:
        rows_without(faults, rows=rows, skip_bad=skip_bad, lost=lost, also=also)
    return str(caught.value)


def test_without_a_fault_every_row_stays_and_nothing_is_told():
    assert rows_without([], rows=ROWS, skip_bad=True, also=("never asked",)) == (list(range(10)), ())


def test_rows_with_a_fault_are_left_out_once_and_one_line_tells_why():
    kept, notes = rows_without([NO_NUMBER, NO_LABEL], rows=ROWS, skip_bad=True)
    assert kept == [0, 2, 4, 5, 6, 7, 8, 9]
    assert notes == ("left out 2 of 10 rows: no number in 'A' (rows 3, 5); no label (row 5)",)


def test_what_may_not_be_meant_is_said_first():
    many = replace(NO_LABEL, note="all rows labelled 'x' (1) are left out")
    assert rows_without([NO_NUMBER, many], rows=ROWS, skip_bad=True)[1] == (
        "all rows labelled 'x' (1) are left out",
        "left out 2 of 10 rows: no number in 'A' (rows 3, 5); no label (row 5)",
    )


@pytest.mark.bad_input
def test_one_fault_is_one_line():
    assert refused(NO_NUMBER) == "A must be a number. Correct it. Or leave the rows out with skip_bad=True."
    assert refused(NO_LABEL) == "B must have a label. Or leave the rows out with skip_bad=True."
    assert refused(COLUMN) == refused(COLUMN, skip_bad=True) == "C must be no date. Leave it out."


@pytest.mark.bad_input
def test_where_it_is_plain_what_cells_should_be_nobody_is_advised_to_leave_them_out():
    plain = replace(NO_LABEL, advice="Write them alike", plain=True)
    assert refused(plain) == "B must have a label. Write them alike."
    assert "skip_bad" not in refused(NO_NUMBER, plain)
    assert len(rows_without([plain], rows=ROWS, skip_bad=True)[0]) == 9


@pytest.mark.bad_input
def test_several_faults_are_told_at_once_with_what_else_is_wrong():
    assert refused(NO_NUMBER, NO_LABEL, also=("The order is not known.",)) == (
        "2 of 10 rows cannot be used as they are:\n"
        "  A must be a number. Correct it.\n"
        "  B must have a label.\n"
        "  The order is not known.\n"
        "Or leave the rows out with skip_bad=True."
    )


@pytest.mark.bad_input
def test_a_column_at_fault_is_refused_though_rows_may_be_left_out():
    assert (
        refused(NO_NUMBER, COLUMN)
        == refused(NO_NUMBER, COLUMN, skip_bad=True)
        == (  # so the flag is not advised
            "2 of 10 rows cannot be used as they are:\n"
            "  A must be a number. Correct it.\n"
            "  C must be no date. Leave it out."
        )
    )
    assert refused(COLUMN, COLUMN).startswith("The columns cannot be used as they are:\n")


@pytest.mark.bad_input
def test_more_than_half_of_the_rows_are_not_left_out():
    assert rows_without([NO_NUMBER], rows=range(4), skip_bad=True)[0] == [0, 2]
    most = Fault(places=(0, 1, 3), sentence="A must be a number")
    assert refused(most, rows=range(4)) == "A must be a number."  # no flag that would not help
    assert refused(most, rows=range(4), skip_bad=True) == (
        "A must be a number. With 3 of 4 rows, more than half, it is not enough to leave rows out."
    )


@pytest.mark.bad_input
def test_rows_that_are_all_of_a_class_are_not_left_out():
    lost = {"mid": "middle", "high": "high"}
    assert refused(NO_LABEL, lost=lost) == "B must have a label."
    assert refused(NO_LABEL, lost=lost, skip_bad=True) == (
        "B must have a label. Without these rows no item is left of the classes 'mid' (written 'middle'), 'high': "
        "correct or delete them."
    )


@pytest.mark.bad_input
def test_pictures_that_are_all_of_a_class_are_no_rows():
    with pytest.raises(
        InputError, match=r"^Every class must .*: left out a; left out b\. Without these items no item is"
    ):
        refuse_lost({"2": "2"}, ["left out a", "left out b"])
    refuse_lost({}, ["left out a"])
