import os
from pathlib import Path

import pandas as pd
import pytest

from onepeak.errors import InputError
from onepeak.training.out_folder import check_out, make_out, refuse_others, write_history


def test_a_new_folder_is_made_and_one_that_is_there_is_left(tmp_path):
    for _ in range(2):
        check_out(tmp_path / "new" / "folder")
        make_out(tmp_path / "new" / "folder")
    assert (tmp_path / "new" / "folder").is_dir()


def test_a_place_below_this_one_may_be_given_without_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_out(Path("run"))
    check_out(Path("a", "run"))
    assert not any(tmp_path.iterdir())


@pytest.mark.bad_input
def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"`--out` must be a folder, got .*, where .*notes\.txt is a file\.$"):
        check_out(tmp_path / "notes.txt" / "run")
    with pytest.raises(InputError, match=r"can be created and written to, got .*run: Not a directory\.$"):
        make_out(tmp_path / "notes.txt" / "run")


@pytest.mark.bad_input
def test_a_folder_of_other_files_is_refused_with_the_first_of_them(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match=r"^`--out` \S+ holds other files \(thesis\.txt\): give a new or an empty fol"):
        refuse_others(tmp_path)
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=r"holds other files \(a, b, c and 1 more\): "):
        refuse_others(tmp_path)


def test_a_new_folder_and_one_of_hidden_files_hold_no_others(tmp_path):
    refuse_others(tmp_path / "new")
    for name in (".gitkeep", ".claim", ".checkpoint.pt.7.part"):
        (tmp_path / name).touch()
    refuse_others(tmp_path)


@pytest.mark.bad_input
def test_what_the_system_refuses_is_told_with_its_reason(tmp_path, monkeypatch):
    for use in (check_out, make_out):
        with pytest.raises(InputError, match=r"can be created and written to, got .*: File name too long\.$"):
            use(tmp_path / ("x" * 300))
    monkeypatch.setattr(os, "access", lambda *_: False)  # who runs the tests may be allowed everything
    with pytest.raises(InputError, match=r"can be created and written to, got .*run: Permission denied\.$"):
        check_out(tmp_path / "run")


def test_an_epoch_is_a_row_and_undefined_values_are_empty(tmp_path):
    write_history([{"epoch": 0, "valid_mae": 0.5}, {"epoch": 1, "valid_mae": float("nan")}], tmp_path)
    assert (tmp_path / "history.csv").read_text() == "epoch,valid_mae\n0,0.5\n1,\n"
    write_history([{"epoch": 0, "valid_mae": 0.25}], tmp_path)
    assert pd.read_csv(tmp_path / "history.csv").to_dict("list") == {"epoch": [0], "valid_mae": [0.25]}
