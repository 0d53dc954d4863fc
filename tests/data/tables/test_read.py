import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onepeak.data.source import DataSource
from onepeak.data.tables.read import class_index_table, read_table
from onepeak.errors import InputError


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_that_of_the_header(write, delimiter):
    frame = read_table(write("a.csv", f"size{delimiter}tone\n1.5{delimiter}red\n")).typed([]).frame
    assert frame.to_dict("list") == {"size": [1.5], "tone": ["red"]}
    quoted = write("b.csv", f'"age, in years; or\tmonths"{delimiter}size\n41{delimiter}1\n')
    assert list(read_table(quoted).frame.columns) == ["age, in years; or\tmonths", "size"]


def test_rows_are_named_by_their_line_and_empty_ones_are_skipped(write):
    frame = read_table(write("a.csv", '\nx,y\n1,2\n\n"3\n",4\n,\n5,6\n')).frame
    assert list(frame.index) == [3, 6, 8]


def test_cells_stay_as_they_are_written_where_asked_and_the_header_loses_its_spaces(write):
    frame = read_table(write("a.csv", "x,label\n1,01\n2,None\n")).typed(["label"]).frame
    assert frame["label"].tolist() == ["01", "None"]
    frame = read_table(write("a.csv", "\ufeff x , y \r\n01, NA\r\n,true\r\n")).frame
    assert frame.to_dict("list") == {"x": ["01", ""], "y": [" NA", "true"]}


def test_rows_of_another_length_are_empty_and_told_of(write):
    table = read_table(write("a.csv", "\n,\nx,y\n1,2\n3\n\n4,5,6\n,\n  \n7,8\n"), empty=True)
    np.testing.assert_array_equal(
        table.typed([]).frame.to_numpy(), [[1, 2], [np.nan] * 2, [np.nan] * 2, [np.nan] * 2, [7, 8]]
    )
    assert list(table.frame.index) == [4, 5, 7, 8, 10]
    told = "must have 2 fields, like the header, got {}"
    assert table.misfits == {5: told.format(1), 7: told.format(3)}
    (fault,) = table.faults
    assert (fault.indices, fault.unread) == ((1, 2), True)
    assert fault.sentence == "Every row must have 2 fields, like the header, but 2 rows do not: row 5 (1), row 7 (3)"


@pytest.mark.bad_input
def test_a_csv_without_a_row_of_the_right_length_is_refused(write):
    message = r"Every row must have 2 fields, .* 2 rows do not: row 2 \(1\), row 3 \(1\). Correct the header of a.csv"
    with pytest.raises(InputError, match=message):
        read_table(write("a.csv", "x,y\n1\n2\n"))


def test_parquet_keeps_its_types_and_a_named_index_is_a_column(tmp_path):
    table = pd.DataFrame({"x": [1.5, None], "tone": pd.Categorical(["a", "b"], ordered=True)})
    table.to_parquet(tmp_path / "a.parquet")
    frame = read_table(tmp_path / "a.parquet").frame
    assert frame["tone"].cat.ordered
    assert np.isnan(frame["x"].tolist()[1])
    assert list(frame.index) == [1, 2]
    pd.DataFrame({"x": [1, 2]}, index=pd.Index(["p", "q"], name="patient")).to_parquet(tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet").frame["patient"].tolist() == ["p", "q"]


# pandas writes a lone carriage return without quotes, and it then ends the line for every reader, its own too
cell = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r", exclude_categories=["Cs"]), max_size=8)


@given(rows=st.lists(st.tuples(cell, cell.filter(str.strip)), min_size=1, max_size=5))
def test_what_pandas_writes_is_read_back_unchanged(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    written = pd.DataFrame(rows, columns=["note", "word"], dtype=object)
    written.to_csv(path, index=False)
    frame = read_table(path).frame
    assert frame.to_numpy().tolist() == written.to_numpy().tolist()


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.csv is empty"),
        ("\n , \n", "a.csv is empty"),
        ("x,label\n", "a.csv has a header and no rows"),
        ("x,x,label\n1,2,3\n", "The columns of a.csv must have different names, got x more than once"),
        ("1.5,2\n3,4\n", "The first row of a.csv must name the columns, it reads 1.5, 2. Add a header"),
        ("faces/1.JPG,3\nfaces/2.JPG,4\n", "must name the columns, it reads faces/1.JPG, 3. Add a header: path,label"),
        ("x,label\n" + "9" * 200_000 + ",1\n", "a.csv, row 2: field larger than field limit"),
    ],
)
def test_a_csv_that_is_none_is_refused(write, text, message):
    with pytest.raises(InputError, match=message):
        read_table(write("a.csv", text))


@pytest.mark.bad_input
def test_other_kinds_of_file_are_refused(write):
    with pytest.raises(InputError, match=r"must be a file that ends in .csv, .tsv, .parquet, .pq, got a.xlsx\."):
        read_table(write("a.xlsx", "x"))


@pytest.mark.bad_input
def test_a_parquet_file_that_is_none_or_has_no_rows_is_refused(write, tmp_path):
    with pytest.raises(InputError, match=r"a.parquet cannot be read as parquet"):
        read_table(write("a.parquet", "nothing of the kind"))
    pd.DataFrame({"x": []}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b.parquet has no rows"):
        read_table(tmp_path / "b.parquet")


@pytest.mark.parametrize(
    ("delimiter", "decimal", "commas"),
    [(";", None, "certain"), ("\t", None, "certain"), (",", None, "never"), (",", ",", "always"), (";", ",", "always")],
)
def test_the_delimiter_says_whether_a_comma_may_be_decimal_unless_it_is_said(write, delimiter, decimal, commas):
    file = write("a.csv", f'size{delimiter}tone\n"12,5"{delimiter}red\n"1,234"{delimiter}blue\n')
    table = read_table(file, decimal=decimal).typed([])
    assert table.commas == commas
    read = commas != "never"
    assert table.notes == (("read with decimal commas: size (12,5 is 12.5)",) if read else ())
    assert len(table.faults) == (not read)
    if read:
        assert table.frame["size"].tolist() == [12.5, 1.234]
    assert read_table(file, decimal=decimal).frame["size"].tolist() == ["12,5", "1,234"]


@pytest.mark.parametrize(
    "lines",
    [
        [["a", "b", "label"], ["1", "2", "0"]],
        [["3", "1", "low", "high"], ["0.5", "1"], ["0.7", "0"]],  # three rows announced, two there
        [["2", "2", "low", "high"], ["0.5", "1"], ["0.7", "0"]],  # two features announced, one there
        [["2", "1", "low", "high"], ["0.5", "1"], ["0.7", "2"]],  # an index without a class
        [["2", "1", "low", "high"], ["0.5", "1"], ["0.7", "0.7", "0"]],
        [["1", "1", "low"], ["0.5", "0"]],
        [["0", "1", "low", "high"]],
    ],
)
def test_a_table_whose_first_row_does_not_describe_it_is_not_of_this_kind(lines):
    assert class_index_table(lines) is None


def test_the_order_is_that_of_the_first_row(write):
    path = write("balance.csv", "4,2,L,B,R\n1,2,2\n3,4,0\n5,6,1\n7,8,0\n")
    data = DataSource(path).open()
    assert data.classes == ("L", "B", "R")
    assert data.labels.tolist() == [2, 0, 1, 0]
    assert data.items.columns == ("x1", "x2")
    assert data.items.values.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert data.notes[0] == "first row read as: rows, features, names of the classes in their order"


@pytest.mark.parametrize(
    ("name", "rows", "features", "classes"),
    [("esl", 488, 4, 9), ("lev", 1000, 4, 5), ("swd", 1000, 10, 4), ("balance_scale", 625, 4, 3)],
)
def test_the_tables_of_orca_are_read_whole(shared_data, name, rows, features, classes):
    path = shared_data / "tabular" / f"{name}.csv"
    data = DataSource(path).open()
    assert data.items.values.shape == (rows, features)
    assert data.num_classes == classes
    last = [int(line.rpartition(",")[2]) for line in path.read_text().splitlines()[1:]]
    assert data.labels.tolist() == last


@pytest.mark.bad_input
def test_a_stray_quotation_mark_that_swallows_rows_is_told(write):
    rows = [f"{number},fine" for number in range(40)]
    rows[4] = '4,"fine'
    with pytest.raises(InputError, match=r"a\.csv, row 6: .* not closed in its row, .* swallow rows to 41"):
        read_table(write("a.csv", "\n".join(["x,y", *rows])))
    rows[20] = '20,"fine"'
    with pytest.raises(InputError, match=r"row 6: .* swallow rows to 22"):
        read_table(write("b.csv", "\n".join(["x,y", *rows])))
    whole = 'x,y\n1,"two\nlines, and ""quotes"""\n2,"" ab\n'
    assert read_table(write("c.csv", whole)).typed([]).frame["y"].tolist() == ['two\nlines, and "quotes"', "ab"]
