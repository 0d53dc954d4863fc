from pathlib import Path

import numpy as np
import pytest

from onepeak.data.splits.files import load_splits, save_splits
from onepeak.data.splits.protocols import make_splits
from onepeak.errors import InputError


def parts(splits):
    return [(split.name, *(items.tolist() for items in split.parts.values())) for split in splits]


@pytest.fixture
def faces(pictures):
    return pictures(np.arange(30) % 3, groups=tuple(f"p{item // 3}" for item in range(30)))


@pytest.mark.parametrize("suffix", [".csv", ".json", ".CSV"])
def test_what_is_saved_comes_back(tmp_path, faces, suffix):
    made = make_splits(faces, splits=2, seed=4)
    save_splits(made, faces, tmp_path / "new" / f"splits{suffix}")
    assert parts(load_splits(tmp_path / "new" / f"splits{suffix}", faces)) == parts(made)


def test_json_keeps_protocol_and_seed_and_csv_the_name_of_the_file(tmp_path, faces):
    made = make_splits(faces, seed=4)
    for name in ("splits.json", "splits.csv"):
        save_splits(made, faces, tmp_path / name)
    assert load_splits(tmp_path / "splits.json", faces) == made
    assert {(split.protocol, split.seed) for split in load_splits(tmp_path / "splits.csv", faces)} == {
        ("splits.csv", 0)
    }


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_splits_follow_the_paths_when_the_items_are_listed_in_another_order(tmp_path, faces, suffix):
    made = make_splits(faces)
    save_splits(made, faces, tmp_path / f"splits{suffix}")
    backwards = faces.take(np.arange(30)[::-1])
    for before, after in zip(made, load_splits(tmp_path / f"splits{suffix}", backwards), strict=True):
        assert sorted(29 - before.test) == after.test.tolist()


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_rows_of_a_table_go_by_their_position(tmp_path, rows, suffix):
    table = rows(np.arange(20)[:, None], [item % 2 for item in range(20)])
    made = make_splits(table)
    save_splits(made, table, tmp_path / f"splits{suffix}")
    assert parts(load_splits(tmp_path / f"splits{suffix}", table)) == parts(made)


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_an_item_that_is_left_out_comes_back_left_out(tmp_path, faces, suffix):
    [split] = make_splits(faces, protocol="holdout", splits=1)
    split = type(split)(train=split.train[1:], valid=split.valid, test=split.test, protocol="holdout")
    save_splits([split], faces, tmp_path / f"splits{suffix}")
    assert parts(load_splits(tmp_path / f"splits{suffix}", faces)) == parts([split])


@pytest.mark.bad_input
def test_files_that_cannot_be_are_refused(tmp_path, faces, pictures):
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
        save_splits(made, pictures([0, 1, 0]), tmp_path / "splits.csv")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"The splits cannot be written to .*file/splits.csv: "):
        save_splits(made, faces, tmp_path / "file" / "splits.csv")
    with pytest.raises(InputError, match=r"none.csv cannot be read: No such file"):
        load_splits(tmp_path / "none.csv", faces)
    (tmp_path / "latin.csv").write_bytes("path,part\nimages/é.jpg,train\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin.csv must be UTF-8 text, but line 2 .* Save it again as UTF-8"):
        load_splits(tmp_path / "latin.csv", faces)
