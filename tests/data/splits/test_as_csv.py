import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from onepeak.data.splits.as_csv import splits_from_csv, splits_to_csv
from onepeak.data.splits.split import Split
from onepeak.errors import InputError

THREE = "path,part\nimages/000000.jpg,train\nimages/000001.jpg,val\nimages/000002.jpg,Test\n"


@pytest.fixture
def three(pictures):
    return pictures([0, 1, 2], groups=("Ann", "Bob, Jr.", "Cem"))


@pytest.fixture
def read(tmp_path):
    def call(text, manifest):
        (tmp_path / "theirs.csv").write_text(text)
        return splits_from_csv(tmp_path / "theirs.csv", manifest)

    return call


def test_the_table_has_one_row_an_item_and_one_column_a_run(three):
    run = {"train": np.array([0]), "valid": np.array([2]), "test": np.array([1])}
    text = splits_to_csv([Split(**run, protocol="mine"), Split(**run, fold=1, protocol="mine")], three)
    table = list(csv.reader(io.StringIO(text)))
    assert table[0] == ["item", "path", "label", "group", "split0-fold0", "split0-fold1"]
    assert table[1] == ["0", "images/000000.jpg", "c0", "Ann", "train", "train"]
    assert table[2] == ["1", "images/000001.jpg", "c1", "Bob, Jr.", "test", "test"]
    assert len(table) == 4


@pytest.mark.parametrize(
    "text",
    [
        THREE,
        THREE.replace(",", ";"),  # what a spreadsheet writes where the comma is the decimal sign
        THREE.replace(",", "\t"),
        THREE.replace("\n", "\r\n") + "\r\n",
        THREE.replace("part", "split0-fold0").replace("val", "validation").replace("Test", " testing "),
        "item,part\n2,test\n1,dev\n0,training\n",
    ],
)
def test_tables_made_elsewhere_are_understood(three, text, read):
    [split] = read(text, three)
    assert (split.name, split.protocol) == ("split0-fold0", "theirs.csv")
    assert [part.tolist() for part in split.parts.values()] == [[0], [1], [2]]


def test_an_empty_cell_leaves_the_item_out(pictures, read):
    [split] = read("item,part\n0,train\n1,valid\n2,test\n3,\n", pictures([0, 1, 2, 0]))
    assert split.sizes == {"train": 1, "valid": 1, "test": 1}


def test_so_does_a_row_that_is_not_there(pictures, read):
    for text in (THREE, "item,label,part\n0,c0,train\n1,c1,valid\n2,c2,test\n"):
        [split] = read(text, pictures([0, 1, 2, 0]))
        assert [part.tolist() for part in split.parts.values()] == [[0], [1], [2]]


@pytest.mark.parametrize("labels", [("0.0", "1.0", "2.0"), ("00", "01", "02")])
def test_labels_tie_positions_to_the_data_however_their_integers_are_written(pictures, read, labels):
    numbered = replace(pictures([0, 1, 2, 0]), classes=("0", "1", "2"))
    [split] = read("item,label,part\n0,{},train\n1,{},valid\n2,{},test\n".format(*labels), numbered)
    assert split.test.tolist() == [2]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "text",
    [
        "item,part\n0,{}\n1,{}\n2,{}\n",
        "item,label,part\n0,x,{}\n1,y,{}\n2,z,{}\n",
        "item,label,part\n0,c0,{}\n1,,{}\n2,c2,{}\n",
    ],
)
def test_positions_must_name_all_items_where_no_label_ties_them_to_the_data(pictures, rows, read, text):
    text = text.format("train", "valid", "test")
    with pytest.raises(
        InputError,
        match=r"must name every item, .* got 3 of 4\. Give .* `label`, one of c0, c1, c2, or its `path`, or add",
    ):
        read(text, pictures([0, 1, 2, 0]))
    with pytest.raises(InputError, match=r"`label`, one of c0, c1, c2, or add a row for every item") as told:
        read(text, rows(np.zeros((4, 1)), [0, 1, 2, 0]))
    assert "`path`" not in str(told.value)
    assert read(text, pictures([0, 1, 2]))[0].test.tolist() == [2]


@pytest.mark.bad_input
def test_one_label_that_the_data_lack_is_named_and_hides_no_other(pictures, read):
    text = "item,label,part\n0,c2,train\n1,c0,valid\n2,x,test\n3,c2,test\n"
    with pytest.raises(InputError, match=r"other labels than 'mine' for 4 items: .*; 'mine' has no class 'x': "):
        read(text, pictures([0, 1, 2, 0]))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"theirs.csv is empty"),
        ("path,part\n", r"theirs.csv must have a header and at least one row, got no row"),
        ("path,part,part\na,b,c\n", r"must have columns of different names, got path, part, part"),
        (THREE + "images/000002.jpg\n", r"theirs.csv, row 5 must have 2 columns, like the header, got 1"),
        ("name,part\na,train\n", r"must have a column `path` or `item`, got name, part"),
        (THREE.replace("part", "fold"), r"must have a column `part`, or one per run, .*, got path, fold"),
        (
            THREE.replace("val", "held").replace("\n", "\n\n"),
            r"row 5: `part` must be train, valid or test, or empty .*, got 'held'",
        ),
        (THREE.replace("val", "train"), r"`part` must put at least one item into valid, got none"),
        (
            THREE + "images/000000.jpg,test\n",
            r"must have one row per item, got several for 1, such as images/000000.jpg",
        ),
        (THREE.replace("000002", "000009"), r"it has no 1 item: images/000009.jpg"),
        ("item,part\nfirst,train\n", r"row 2: `item` must be a position from 0, got 'first'"),
        ("item,part\n7,train\n", r"must hold positions from 0 to 2, got 1 item: 7"),
        (
            "item,label,part\n0,c2,train\n1,c1,valid\n2,c2,test\n",
            r"other labels than 'mine' for 1 item: .*c2 there, c0",
        ),
    ],
)
def test_tables_that_cannot_be_are_refused(three, text, message, read):
    with pytest.raises(InputError, match=message):
        read(text, three)
