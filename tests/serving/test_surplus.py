from pathlib import Path

import pytest

from onepeak.data.table_file import read_table
from onepeak.serving.surplus import kept_and_misfits, known_fields

HEADER = ["id", "tone", "size", "note"]


def known(row, *numbers):
    return known_fields(row.split(","), HEADER, numbers=numbers)


def test_a_torn_text_behind_the_numbers_leaves_all_before_it_known():
    assert known("a7,dark,0.5,see page 3, below,and more", "size") == {"id": "a7", "tone": "dark", "size": "0.5"}


def test_a_torn_text_before_the_numbers_leaves_all_behind_it_known():
    assert known("a7,dark,pale,0.5,none", "size") == {"size": "0.5", "note": "none"}


def test_where_any_cell_may_be_torn_nothing_is_known():
    assert known("a7,dark,pale,0.5,none") == {}
    assert known("1,2,3,4,5", "tone", "size") == {}


def test_a_decimal_comma_tears_a_number_into_numbers():
    assert known("a7,dark,0,5,none", "size") == {}  # the tone may be torn too: dark,0 beside a size of 5
    assert known("7,a,x,1,5", "note", "id") == {"id": "7"}


def test_missing_numbers_and_truths_are_as_good_as_numbers():
    assert known("a7,dark,,x,y", "size") == {"id": "a7", "tone": "dark", "size": ""}
    assert known("a7,dark,true,x,y", "size")["size"] == "true"
    assert known("a7,dark,inf,x,y", "size") == {}  # no cell is left that may be torn


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,size,note\na,1,x\nb,2,y,z\nc,3\n")
    return read_table(Path(path), as_text=None, empty=True)


def test_known_cells_are_kept_and_unknown_ones_told(table):
    kept, wrong = kept_and_misfits(table, ["id,note"], numbers={"size"})
    assert kept.rows == (("a", "x"), ("b", None), (None, None))
    assert wrong == {
        3: "must have 3 fields, as the header has, got 4, so that `note` cannot be told",
        4: "must have 3 fields, as the header has, got 2",
    }


def test_where_nothing_is_kept_nothing_is_told_of_it(table):
    kept, wrong = kept_and_misfits(table, [])
    assert kept is None
    assert wrong[3] == "must have 3 fields, as the header has, got 4"
