import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from onepeak.data.manifest import ImageFiles
from onepeak.data.splits.files import (
    load_splits,
    plain_path,
    save_splits,
    splits_from_folder,
    splits_to_csv,
    splits_to_json,
)
from onepeak.data.splits.protocols import make_splits
from onepeak.data.splits.split import Split
from onepeak.errors import InputError


def parts(splits):
    return [(split.name, *(items.tolist() for items in split.parts.values())) for split in splits]


@pytest.fixture
def faces(images):
    return images(np.arange(30) % 3, groups=tuple(f"p{item // 3}" for item in range(30)))


@pytest.mark.parametrize("suffix", [".csv", ".json", ".CSV"])
def test_saved_splits_come_back(tmp_path, faces, rows, suffix):
    file = tmp_path / "new" / f"splits{suffix}"
    splits = make_splits(faces, splits=2, seed=4)
    save_splits(splits, faces, file)
    again = load_splits(file, faces)
    assert parts(again) == parts(splits)
    assert again == splits or {(split.protocol, split.seed) for split in again} == {(file.name, 0)}
    assert (again == splits) == (suffix == ".json")
    backwards = faces.take(np.arange(30)[::-1])  # paths tie the splits to the samples, whatever their order
    for before, after in zip(splits, load_splits(file, backwards), strict=True):
        assert sorted(29 - before.test) == after.test.tolist()
    left_out = replace(splits[0], train=splits[0].train[1:])
    save_splits([left_out], faces, file)
    assert parts(load_splits(file, faces)) == parts([left_out])
    table = rows(np.arange(20)[:, None], [index % 2 for index in range(20)])  # rows go by position
    splits = make_splits(table)
    save_splits(splits, table, file)
    assert parts(load_splits(file, table)) == parts(splits)


@pytest.mark.bad_input
def test_files_that_cannot_be_are_refused(tmp_path, faces, images):
    made = make_splits(faces)
    with pytest.raises(InputError, match=r"`path` must end in .csv or .json, got 'splits.txt'"):
        save_splits(made, faces, Path("splits.txt"))
    with pytest.raises(InputError, match=r"`path` must end in .csv or .json, got 'splits'"):
        load_splits(Path("splits"), faces)
    with pytest.raises(InputError, match=r"`splits` must hold at least one split, got none"):
        save_splits([], faces, tmp_path / "splits.csv")
    with pytest.raises(InputError, match=r"`splits` must hold every run once, got split0-fold0 2 times"):
        save_splits([made[0], made[0]], faces, tmp_path / "splits.csv")
    with pytest.raises(InputError, match=r"made for another data set"):
        save_splits(made, images([0, 1, 0]), tmp_path / "splits.csv")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"The splits cannot be written to .*file/splits.csv: "):
        save_splits(made, faces, tmp_path / "file" / "splits.csv")


THREE = "path,part\nimages/000000.jpg,train\nimages/000001.jpg,val\nimages/000002.jpg,Test\n"
RUN = {"train": [0], "valid": [1], "test": [2]}


@pytest.fixture
def three(images):
    return images([0, 1, 2], groups=("Ann", "Bob, Jr.", "Cem"))


@pytest.fixture
def read(tmp_path):
    """Reads a table, or an object as JSON."""

    def call(content, manifest, suffix=".csv"):
        file = tmp_path / f"theirs{suffix}"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return load_splits(file, manifest)

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


def test_an_empty_cell_or_a_missing_row_leaves_the_sample_out(images, read):
    all_rows = "item,part\n0,train\n1,valid\n2,test\n3,\n"
    for text in (all_rows, THREE, "item,label,part\n0,c0,train\n1,c1,valid\n2,c2,test\n"):
        [split] = read(text, images([0, 1, 2, 0]))
        assert [part.tolist() for part in split.parts.values()] == [[0], [1], [2]]


@pytest.mark.parametrize("labels", [("0.0", "1.0", "2.0"), ("00", "01", "02")])
def test_labels_tie_positions_to_the_data_however_their_integers_are_written(images, read, labels):
    numbered = replace(images([0, 1, 2, 0]), classes=("0", "1", "2"))
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
def test_positions_must_name_all_items_where_no_label_ties_them_to_the_data(images, rows, read, text):
    text = text.format("train", "valid", "test")
    with pytest.raises(InputError, match=r"every sample, .* got 3 of 4\. .* one of c0, c1, c2, or its `path`, or add"):
        read(text, images([0, 1, 2, 0]))
    with pytest.raises(InputError, match=r"`label`, one of c0, c1, c2, or add a row for every sample") as told:
        read(text, rows(np.zeros((4, 1)), [0, 1, 2, 0]))
    assert "`path`" not in str(told.value)
    assert read(text, images([0, 1, 2]))[0].test.tolist() == [2]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"theirs.csv is empty"),
        ("path,part\n", r"theirs.csv has a header and no rows"),
        ("path,part,part\na,b,c\n", r"must have different names, got part more than once"),
        (THREE + "images/000002.jpg\n", r"theirs.csv, row 5 must have 2 fields, like the header, got 1"),
        ("name,part\na,train\n", r"must have a column `path` or `item`, got name, part"),
        (THREE.replace("part", "fold"), r"must have a column `part`, or one per run, .*, got path, fold"),
        (THREE.replace("val", "held").replace("\n", "\n\n"), r"row 5: `part` must be train, .*, got 'held'"),
        (THREE.replace("val", "train"), r"`part` must put at least one sample into valid, got none"),
        (THREE + "images/000000.jpg,test\n", r"one row per sample, got several for 1, such as images/000000.jpg"),
        (THREE.replace("000002", "000009"), r"it has no 1 sample: images/000009.jpg"),
        ("item,part\nfirst,train\n", r"row 2: `item` must be a position from 0, got 'first'"),
        ("item,part\n7,train\n", r"must hold positions from 0 to 2, got 1 sample: 7"),
        ("item,label,part\n0,c2,train\n1,c1,valid\n2,c2,test\n", r"other labels than 'mine' .*c2 there, c0"),
    ],
)
def test_tables_that_cannot_be_are_refused(three, text, message, read):
    with pytest.raises(InputError, match=message):
        read(text, three)


def test_the_object_says_what_it_is_about(three):
    run = Split(train=np.array([0]), valid=np.array([2]), test=np.array([1]), split=3, fold=1, seed=5, protocol="mine")
    content = json.loads(splits_to_json([run], three))
    assert content == {
        "format": "onepeak-splits-1",
        "dataset": "mine",
        "items": 3,
        "labels": ["c0", "c1", "c2"],
        "paths": ["images/000000.jpg", "images/000001.jpg", "images/000002.jpg"],
        "runs": [{"protocol": "mine", "seed": 5, "split": 3, "fold": 1, "train": [0], "valid": [2], "test": [1]}],
    }


def test_paths_or_positions_made_elsewhere_are_understood(three, read):
    paths = {"train": ["images/000000.jpg"], "val": ["images\\000001.jpg"], "test": ["./images/000002.jpg"]}
    first, second = read({"runs": [paths, RUN]}, three, ".json")
    assert (first.name, second.name) == ("split0-fold0", "split1-fold0")
    assert first.protocol == "theirs.json"
    assert all(np.array_equal(first.parts[part], second.parts[part]) for part in first.parts)
    folds = read({"runs": [{**RUN, "fold": 0}, {**RUN, "fold": 1}]}, three, ".json")
    assert [run.name for run in folds] == ["split0-fold0", "split0-fold1"]


@pytest.mark.parametrize(
    "tie",
    [
        {"items": 4},
        {"labels": ["c0", "c1", "c2", "c0"]},
        {"labels": ["young", "grown", "old", None]},  # other names, and as many as there are items
        {"paths": [f"images/00000{item}.jpg" for item in range(4)]},
    ],
    ids=lambda tie: next(iter(tie)),
)
def test_items_may_be_left_out(images, read, tie):
    [split] = read({**tie, "runs": [RUN]}, images([0, 1, 2, 0]), ".json")
    assert [part.tolist() for part in split.parts.values()] == [[0], [1], [2]]


@pytest.mark.bad_input
def test_positions_must_name_all_items_where_nothing_ties_them_to_the_data(images, rows, read):
    with pytest.raises(InputError, match=r"every sample, .* got 3 of 4\. Add `labels`, .* or its `paths`\."):
        read({"runs": [RUN]}, images([0, 1, 2, 0]), ".json")
    with pytest.raises(InputError, match=r"the class of each of the 4 samples of 'table'\."):
        read({"paths": None, "runs": [RUN]}, rows(np.zeros((4, 1)), [0, 1, 2, 0]), ".json")
    other = {"train": [3], "valid": [1], "test": [2]}
    both = read({"runs": [RUN, other]}, images([0, 1, 2, 0]), ".json")
    assert [split.train.tolist() for split in both] == [[0], [3]]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"theirs.json must be valid JSON: "),
        ([RUN], r"must be an object with a non-empty list `runs`"),
        ({"runs": []}, r"must be an object with a non-empty list `runs`"),
        ({"runs": [[0, 1, 2]]}, r"`runs\[0\]` must be an object with train, valid and test"),
        ({"runs": [RUN, {**RUN, "test": []}]}, r"`runs\[1\].test` must be a non-empty list of paths"),
        ({"runs": [{"train": [0], "test": [1]}]}, r"`runs\[0\].valid` must be a non-empty list"),
        ({"runs": [{**RUN, "test": [2, "images/000001.jpg"]}]}, r"`runs\[0\].test` must hold paths only or"),
        ({"runs": [{**RUN, "test": [True]}]}, r"`runs\[0\].test` must hold paths only or positions only"),
        ({"runs": [{**RUN, "test": [3]}]}, r"`runs\[0\].test` must hold positions from 0 to 2, got 1 sample: 3"),
        ({"runs": [{**RUN, "test": ["b.jpg"]}]}, r"it has no 1 sample: b.jpg"),
        ({"runs": [{**RUN, "test": [1, 2]}]}, r"`valid` and `test` must share no sample, got 1 in both"),
        ({"runs": [{**RUN, "seed": "one"}]}, r"`seed` must be an integer >= 0, got 'one'"),
        ({"items": 9, "runs": [RUN]}, r"was made for 9 samples, but 'mine' has 3"),
        ({"labels": ["c0", "c0", "c2"], "runs": [RUN]}, r"other labels than 'mine' for 1 sample: .*c0 there, c1 here"),
        ({"labels": ["c0", "c1"], "runs": [RUN]}, r"must have a label for each of its 3 samples, got 2"),
        ({"paths": ["z.jpg"], "runs": [RUN]}, r"it has no 1 sample: z.jpg"),
    ],
)
def test_objects_that_cannot_be_are_refused(three, content, message, read):
    with pytest.raises(InputError, match=message):
        read(content, three, ".json")


@pytest.fixture
def folder(tmp_path, faces):
    """Two splits of two folds, with the labels in a second column, as the published code writes them."""
    made = make_splits(faces, protocol="iciar", folds=2)
    for run in made:
        place = tmp_path / "theirs" / f"split_{run.split}" / f"fold_{run.fold}"
        place.mkdir(parents=True)
        for part, items in run.parts.items():
            lines = "".join(f"{faces.items.paths[item]},{faces.labels[item]}\n" for item in items)
            (place / f"{part}_s_{run.split}_f_{run.fold}.csv").write_text(lines)
    return tmp_path / "theirs"


def file_of(folder, part="valid"):
    return folder / "split_0" / "fold_0" / f"{part}_s_0_f_0.csv"


def test_what_is_written_so_comes_back(folder, faces):
    found = make_splits(faces, protocol=str(folder))
    assert parts(found) == parts(make_splits(faces, protocol="iciar", folds=2))
    assert {(run.protocol, run.seed) for run in found} == {("theirs", 0)}
    assert make_splits(faces, protocol=str(folder), splits=1, folds=1) == found[:1]


def test_runs_are_in_the_order_of_their_numbers_and_other_entries_are_left_aside(folder, faces):
    last = folder / "split_0" / "fold_10"
    last.mkdir()
    for part in ("train", "valid", "test"):
        (last / f"{part}_s_0_f_10.csv").write_bytes(file_of(folder, part).read_bytes())
    (folder / "split_0" / "fold_old").mkdir()
    (folder / "split_9").mkdir()
    (folder / "README.txt").write_text("mine")
    assert [run.name for run in splits_from_folder(folder, faces)] == [
        "split0-fold0", "split0-fold1", "split0-fold10", "split1-fold0", "split1-fold1",
    ]  # fmt: skip


def test_a_header_blank_rows_and_the_leading_folders_of_another_machine_are_left_out(folder, faces):
    before = parts(splits_from_folder(folder, faces))
    file = file_of(folder)
    lines = [f"/home/them/data\\{line}" for line in file.read_text().splitlines()]
    file.write_text("\n".join(["image,label", *lines, "", ""]))
    assert parts(splits_from_folder(folder, faces)) == before


@pytest.mark.bad_input
def test_what_a_folder_of_splits_lacks_is_told_with_its_file(folder, faces, tmp_path):
    file = file_of(folder)
    file.write_text(f"{file.read_text()}images/999.jpg,0\n")
    with pytest.raises(InputError, match=r"valid_s_0_f_0\.csv must .* it has no 1 sample: images/999\.jpg\."):
        splits_from_folder(folder, faces)
    file.write_text("image,label\n")
    with pytest.raises(InputError, match=r"valid_s_0_f_0\.csv must name images .* got no row\."):
        splits_from_folder(folder, faces)
    file.unlink()
    with pytest.raises(InputError, match=r"valid_s_0_f_0\.csv cannot be read: No such file"):
        make_splits(faces, protocol=str(folder))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"must be a folder with split_0/fold_0/train_s_0_f_0\.csv and so on"):
        make_splits(faces, protocol=str(tmp_path / "empty"))


@pytest.mark.bad_input
def test_paths_need_files_that_differ(rows, read, images):
    assert plain_path(" ./a//b/../c.jpg ") == "a/c.jpg"
    with pytest.raises(InputError, match=r"'table' has no files: give a column `item`"):
        read("path,part\na.jpg,train\n", rows([[1.0], [2.0]], [0, 1]))
    twice = replace(images([0, 1]), items=ImageFiles(root=Path(), paths=("a.jpg", "./a.jpg")))
    with pytest.raises(InputError, match=r"'mine' has a path twice: give a column `item`"):
        read("path,part\na.jpg,train\n", twice)
