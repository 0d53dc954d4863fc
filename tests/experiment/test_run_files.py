import pytest

from onepeak._one_step import NotWrittenError
from onepeak.experiment.run_files import read_run_files, write_run_files

FILES = {"history.csv": b"epoch\n0\n", "model.safetensors": bytes(range(256)), "result.json": b"{}"}


def test_what_a_run_leaves_is_taken_along_and_what_served_its_training_is_not(tmp_path):
    for name in (*FILES, "checkpoint.pt", ".claim", ".result.json.7.part"):
        (tmp_path / name).write_bytes(FILES.get(name, b"x"))
    assert read_run_files(tmp_path) == FILES


def test_at_home_the_bytes_are_the_same_and_a_checkpoint_of_an_earlier_start_is_gone(tmp_path):
    (tmp_path / "checkpoint.pt").touch()
    write_run_files(FILES, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == FILES


def test_a_run_without_a_result_keeps_the_checkpoint_that_is_there(tmp_path):
    (tmp_path / "checkpoint.pt").touch()
    write_run_files({"error.json": b"{}"}, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoint.pt", "error.json"}


def test_there_is_no_result_before_all_else_is_there(tmp_path):
    (tmp_path / "zz.csv").mkdir()  # so that the last file by name cannot be written
    with pytest.raises(NotWrittenError, match=r"zz\.csv could not be written"):
        write_run_files(FILES | {"zz.csv": b""}, tmp_path)
    assert not (tmp_path / "result.json").exists()
