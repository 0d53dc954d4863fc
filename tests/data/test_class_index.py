import pytest

from onepeak.data.class_index import class_index_table
from onepeak.data.open import open_data


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
    data = open_data(path)
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
    data = open_data(path)
    assert data.items.values.shape == (rows, features)
    assert data.num_classes == classes
    last = [int(line.rpartition(",")[2]) for line in path.read_text().splitlines()[1:]]
    assert data.labels.tolist() == last
