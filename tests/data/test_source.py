"""Data as users have it: long because one function opens folders, lists, tables and known sets, and refuses each."""

import numpy as np
import pandas as pd
import pytest

from onepeak.data import DATASETS, DataSource, from_frame
from onepeak.data.manifest import FeatureRows, ImageFiles
from onepeak.data.splits import make_splits
from onepeak.errors import InputError


def test_a_list_of_images_starts_from_its_own_folder(plant, write):
    root = plant("faces/a.jpg", "faces/b.jpg")
    path = write("list.csv", "path,label,group\nfaces/b.jpg,high,p1\nfaces/a.jpg,low,p2\n")
    data = DataSource(path, order="low,high").open()
    assert data.items == ImageFiles(root=root, paths=("faces/b.jpg", "faces/a.jpg"))
    assert (data.labels.tolist(), data.groups, data.name) == ([1, 0], ("p1", "p2"), "list")


def test_a_list_of_images_can_start_from_a_root_given(plant, write, tmp_path):
    plant("elsewhere/a.jpg", "elsewhere/b.jpg")
    path = write("lists/list.csv", "path,age\na.jpg,3\nb.jpg,4\n")
    assert DataSource(path, root=tmp_path / "elsewhere", label="age").open().items.root == tmp_path / "elsewhere"


def test_a_table_of_features_is_opened_with_its_label(write):
    path = write("wine.csv", "acid,colour,quality,site\n7.4,red,5,a\n,white,6,b\n7.8,red,5,a\n")
    data = DataSource(path, label="quality", group="site").open()
    assert isinstance(data.items, FeatureRows)
    assert data.items.columns == ("acid", "colour")
    assert data.items.categories == {"colour": ("red", "white")}
    assert (data.classes, data.groups) == (("5", "6"), ("a", "b", "a"))


def test_the_column_of_images_can_have_any_name(plant, write):
    root = plant("01.jpg", "b.jpg")
    path = write("list.csv", "scan,mask,path,label\n01.jpg,m1.png,x,1\nb.jpg,m2.png,y,2\n")
    data = DataSource(path, path="scan").open()
    assert data.items == ImageFiles(root=root, paths=("01.jpg", "b.jpg"))
    assert data.path_column == "scan"
    assert "left out 2 columns of the list: mask, path" in data.notes
    digits = write("digits.csv", "scan,label\n01,1\n02,2\n")  # names that look like numbers stay as they are written
    plant("01", "02")
    assert DataSource(digits, path="scan").open().items.paths == ("01", "02")


def test_classes_txt_beside_a_table_gives_the_order(write):
    path = write("a.csv", "x,label\n1,low\n2,high\n")
    write("classes.txt", "low\nhigh\n")
    assert DataSource(path).open().notes[0] == "order from classes.txt: low < high"
    assert DataSource(path, order="high,low").open().classes == ("high", "low")


def test_a_folder_called_like_a_known_set_is_opened_by_its_path(plant, monkeypatch):
    root = plant("hci/1/a.png", "hci/2/b.png")
    monkeypatch.chdir(root)
    assert (DataSource("./hci").open().num_classes, DataSource(root / "hci").open().name) == (2, "own-hci")
    monkeypatch.setenv("HOME", str(root))
    assert len(DataSource("~/hci").open()) == 2
    with pytest.raises(InputError, match=r"The data set hci needs `root`.* A folder of your own called hci is ./hci\."):
        DataSource("hci").open()


def test_a_table_called_like_a_known_set_gets_neither_its_protocol_nor_its_figures(write):
    rows = "".join(f"{number * number % 7},{number % 4}\n" for number in range(300))
    manifest = DataSource(write("hci.csv", "x,label\n" + rows)).open()
    assert manifest.name == "own-hci"
    assert {split.protocol for split in make_splits(manifest)} == {"kfold"}


def bad_table(write, name="bad.csv", *, without=()):
    """Sixty rows, five of which are bad in one way each, and one in two."""
    rows = [f"{n},{n % 7 / 4},{'mild' if n % 2 else 'severe'}" for n in range(100, 160)]
    rows[3] = "1O3,0.5,mild"
    rows[7] = "107,0.5"
    rows[11] = "111,0,5,mild"
    rows[20] = "120,1.5,"
    rows[21] = "121,1.5,Mild"
    rows[33] = "133,inf,"
    kept = [row for place, row in enumerate(rows) if place not in without]
    return write(name, "\n".join(["age,size,grade", *kept, ",,", ""]))


def test_bad_rows_are_left_out_as_if_they_had_been_deleted(write):
    data = DataSource(bad_table(write), label="grade", order="mild,severe", skip_bad=True).open()
    clean = DataSource(
        bad_table(write, "clean.csv", without=(3, 7, 11, 20, 21, 33)), label="grade", order="mild,severe"
    ).open()
    assert data.items.columns == clean.items.columns == ("age", "size")
    assert data.items.values.tolist() == clean.items.values.tolist()
    assert data.labels.tolist() == clean.labels.tolist()
    assert (len(data), data.num_left_out, clean.num_left_out) == (54, 6, 0)
    assert data.notes == (
        "left out 6 of 60 rows: more or fewer fields than the header (rows 9, 13); no number in 'age' (row 5); "
        "no usable number in 'size' (row 35); no label (rows 22, 35); a label that the order lacks, 'Mild' "
        "(row 23)",
        *clean.notes,
    )


@pytest.mark.bad_input
def test_all_that_is_wrong_in_a_table_is_told_at_once(write):
    path = bad_table(write)
    with pytest.raises(InputError) as caught:
        DataSource(path, label="grade", order="mild,severe").open()
    assert str(caught.value) == (
        f"{path}: 6 of 60 rows cannot be used as they are:\n"
        "  Every row must have 3 fields, like the header, but 2 rows do not: row 9 (2), row 13 (4). Correct them.\n"
        "  The column 'age' has numbers except in 1 row: '1O3' (row 5). Correct these cells, or empty them: missing "
        "values are filled in. Or name what stands for one with `missing`.\n"
        "  The column 'size' must be finite numbers that fit into float32, 1 row has none: inf (row 35). Correct these "
        "cells, or empty them: missing values are filled in. Or name what stands for one with `missing`.\n"
        "  Every sample must have a label, 2 samples of 58 have none: rows 22, 35. Fill them in.\n"
        "  `order` must name every label of the data, it lacks 'Mild' (1 sample, row 23; did you mean 'mild'?). "
        "It names mild, severe. Correct these labels or the order.\n"
        'Or leave the rows out with skip_bad=True. (See "Your table" in the documentation)'
    )


@pytest.mark.bad_input
def test_a_path_that_is_not_there_suggests_known_names():
    with pytest.raises(InputError) as caught:
        DataSource("fgnt").open()
    known = ", ".join(record.name for record in DATASETS)
    assert str(caught.value) == (
        f"There is no file or folder 'fgnt'. Did you mean 'fgnet'? Known data sets: {known}. "
        '(See "Your images" in the documentation)'
    )
    for name in ("gone.csv", "gone.Parquet"):
        with pytest.raises(InputError, match=r'\(See "Your table" in the documentation\)$'):
            DataSource(name).open()


@pytest.mark.bad_input
@pytest.mark.parametrize("setting", ["root", "order", "label", "group", "path"])
def test_settings_without_use_are_refused(plant, setting):
    message = rf"`{setting}` does nothing for"
    if setting != "order":
        with pytest.raises(InputError, match=f"{message} the folder .*: leave it out"):
            DataSource(plant("1/a.png", "2/b.png"), **{setting: "x"}).open()
    if setting != "root":
        with pytest.raises(InputError, match=f"{message} the data set biopsies"):
            DataSource("biopsies", **{setting: "a,b"}).open()
        with pytest.raises(InputError, match=f"{message} the data set hci: leave it out"):
            DataSource("hci", root=".", **{setting: "a,b"}).open()


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("path,label\na.jpg,1\nb.jpg,2\n", r"1 of 2 images does not exist in .*: b.jpg \(row 3\)"),
        ("path,label\na.jpg,1\na.jpg,2\n", r"every image once, got a.jpg \(rows 2, 3\)"),
        ("path,grade\na.jpg,1\n", "column of labels must be named with `label`, because none is .*: path, grade"),
        ("x,label\n1,1\n2,\n3,2\n4, \n", "2 samples of 4 have none: rows 3, 5"),
        ("x,label\n1,2\n2,2\n", "There must be at least 2 classes"),
        ("x,label\n1,low\n2,high\n", "The order of the labels is not known and is never guessed"),
        ("label\n1\n2\n", "must have a column that is a feature, it has none"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_name(plant, write, text, message):
    plant("a.jpg")
    with pytest.raises(InputError, match=rf"list.csv: .*{message}"):
        DataSource(write("list.csv", text)).open()


@pytest.mark.bad_input
@pytest.mark.parametrize("root", [None, "."])
def test_a_list_whose_images_are_called_otherwise_is_sent_to_the_page_on_images(write, root):
    rows = "".join(f"{number}.png,{number % 2}\n" for number in range(12))
    with pytest.raises(InputError) as caught:
        DataSource(write("list.csv", f"file,label\n{rows}"), root=root).open()
    told = "give it as `path` (--path file), or leave it out with `drop` (--drop file)."
    assert str(caught.value).endswith(f'{told} (See "Your images" in the documentation)')


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("scans", r"'scans'.* Did you mean 'scan'.* Name the column with `path`"),
        ("label", "must not be the column of labels or of groups, got 'label'"),
        ("scan", "Every row must have a `scan`, 1 row without one: 3"),
    ],
)
def test_a_column_of_images_that_cannot_be_one_is_refused(plant, write, column, message):
    plant("a.jpg")
    with pytest.raises(InputError, match=message):
        DataSource(write("list.csv", "scan,label\na.jpg,1\n,2\n"), path=column).open()


def test_names_in_digits_are_the_same_in_csv_parquet_and_frame(write, tmp_path):
    """A missing value beside integers makes pandas write them with a point."""
    frame = pd.DataFrame({"site": [1.0, None, 2.0, 10.0] * 3, "n": [0.5, 2, 1] * 4, "label": [0, 1] * 6})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    whole = write("b.csv", "site,n,label\n" + "1,0.5,0\n,2,1\n2,1,0\n10,0.5,1\n,3,0\n")
    csv, parquet = (DataSource(tmp_path / name, category=["site"]).open() for name in ("a.csv", "a.parquet"))
    for data in (csv, parquet, from_frame(frame, category=["site"]), DataSource(whole, category=["site"]).open()):
        assert data.items.categories == {"site": ("1", "10", "2")}
        np.testing.assert_array_equal(data.items.values[:4, 0], [0, np.nan, 2, 1])
    for like in (csv.items, parquet.items):
        for name in ("a.csv", "a.parquet"):
            np.testing.assert_array_equal(DataSource(tmp_path / name).open(like=like).items.values, csv.items.values)


@pytest.mark.bad_input
def test_images_are_not_read_like_a_table(plant, write):
    train = DataSource(write("train.csv", "n,label\n1,0\n2,1\n")).open()
    for data in (plant("scans/1/a.png", "scans/2/b.png") / "scans", "biopsies"):
        with pytest.raises(InputError, match="`like` is for a table of features, got images: leave it out"):
            DataSource(data).open(like=train.items)


@pytest.mark.bad_input
def test_a_list_may_leave_out_the_file_extension_but_is_no_table(plant, write):
    root = plant(*(f"train_images/{number:04x}.png" for number in range(12))) / "train_images"
    rows = "".join(f"{number:04x},{number % 3},p{number // 2}\n" for number in range(12))
    path = write("train.csv", f"id_code,diagnosis,patient\n{rows}")
    data = DataSource(path, path="id_code", label="diagnosis", group="patient", root=root).open()
    assert data.items == ImageFiles(root=root, paths=tuple(f"{number:04x}.png" for number in range(12)))
    assert "12 paths written otherwise than on disk, such as 0000 for 0000.png" in data.notes

    expected = r"^\S*train\.csv: The column 'id_code' names images, such as '0000': give it as `path` \(--path id_code"
    with pytest.raises(InputError, match=expected):
        DataSource(path, label="diagnosis", root=root).open()
    with pytest.raises(InputError, match=expected):
        DataSource(path.rename(root / path.name), label="diagnosis").open()


def test_labels_may_be_in_one_of_several_columns(write):
    text = "x,left,right,tone\n1,3,,a\n2,,4,b\n3,NA,3,a\n"
    data = DataSource(write("a.csv", text), label="left,right").open()
    assert (data.labels.tolist(), data.classes, data.items.columns) == ([0, 1, 0], ("3", "4"), ("x", "tone"))
    assert (data.label_column, data.notes[0]) == ("left,right", "labels from left (1 row), right (2 rows)")
    again = DataSource(write("b.csv", text), label="left,right", skip_bad=True).open(like=data.items)
    assert again.labels.tolist() == [0, 1, 0]
    both = write("both.csv", text + "4,3,4,a\n5,,,b\n")
    with pytest.raises(InputError, match=r"(?s)one of the columns left, right, 1 row with more than one: row 5.*row 6"):
        DataSource(both, label="left,right").open()
    assert len(DataSource(both, label="left,right", skip_bad=True).open()) == 3
    with pytest.raises(InputError, match=r"Unknown column 'rigt'\. Did you mean 'right'\?"):
        DataSource(both, label="left,rigt").open()


def test_other_encodings_and_cells_that_stand_for_nothing_are_read_when_they_are_named(tmp_path):
    file = tmp_path / "befund.csv"
    file.write_bytes("größe,befund\n1.5,mäßig\n-,mäßig\nk.A.,schwer\n2.5,schwer\n".encode("cp1252"))
    with pytest.raises(InputError, match=r"line 1 has the invalid byte 0xf6\. Save it again as UTF-8, or .*--encoding"):
        DataSource(file, label="befund").open()
    how = {"label": "befund", "order": "mäßig,schwer", "encoding": "cp1252"}
    data = DataSource(file, missing=["-", "k.A."], **how).open()
    np.testing.assert_array_equal(data.items.values[:, 0], [1.5, np.nan, np.nan, 2.5])
    assert data.classes == ("mäßig", "schwer")
    with pytest.raises(InputError, match="`encoding` must be a known one, such as cp1252, got 'cp99999'"):
        DataSource(file, **how | {"encoding": "cp99999"}).open()


def test_values_of_subgroups_are_read_as_written_and_rows_left_out_are_left_out(write):
    file = write("a.csv", "n,label,site\n1,0,01\n2,1,NA\n3,,03\n4,1,01\n")
    data = DataSource(file, subgroup=["site"], drop=["site"], skip_bad=True).open()
    assert data.subgroups == {"site": ("01", "not given", "01")}
    assert data.take([2, 1]).subgroups == {"site": ("01", "not given")}
    with pytest.raises(InputError, match=r"Unknown column 'sight'\. Did you mean 'site'\?"):
        DataSource(file, subgroup=["sight"], skip_bad=True).open()
    many = write("many.csv", "n,label\n" + "".join(f"{number**2},{number % 2}\n" for number in range(150)))
    with pytest.raises(InputError, match="`subgroup` must name columns with at most 100 values, got 'n' with 150"):
        DataSource(many, subgroup=["n"]).open()
