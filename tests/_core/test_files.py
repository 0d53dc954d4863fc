import errno
import fcntl
import re

import pandas as pd
import pytest

from onepeak._core.files import (
    NoLocksError,
    NotWrittenError,
    clear_unfinished,
    locked,
    read_text,
    write_in_one_step,
    write_text_in_one_step,
)
from onepeak.data import DataSource
from onepeak.data.tables.frame import from_frame
from onepeak.errors import InputError
from onepeak.serving import image_paths, load
from onepeak.serving.images import images_and_columns


def test_a_text_is_written_in_utf_8_over_what_was_there(tmp_path):
    for text in ("first\n", "größer ↑\n"):
        write_text_in_one_step(tmp_path / "table.md", text)
    assert (tmp_path / "table.md").read_bytes() == "größer ↑\n".encode()
    assert [file.name for file in tmp_path.iterdir()] == ["table.md"]


def test_a_file_has_the_rights_of_any_other_whatever_its_writer_does(tmp_path):
    def write_for_oneself(part):
        part.write_text("content")
        part.chmod(0o600)

    write_in_one_step(tmp_path / "ours", write_for_oneself)
    (tmp_path / "any").touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "any").stat().st_mode


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (KeyboardInterrupt(), pytest.raises(KeyboardInterrupt)),
        (OSError("no room"), pytest.raises(NotWrittenError, match=r"table\.md could not be written \(no room\)")),
    ],
)
def test_a_write_that_does_not_end_keeps_what_was_there_and_leaves_no_litter(tmp_path, raised, told):
    def interrupted(part):
        part.write_text("half")
        raise raised

    write_text_in_one_step(tmp_path / "table.md", "whole")
    with told:
        write_in_one_step(tmp_path / "table.md", interrupted)
    assert (tmp_path / "table.md").read_text() == "whole"
    assert [file.name for file in tmp_path.iterdir()] == ["table.md"]


def test_what_killed_writers_left_is_removed_and_nothing_else(tmp_path):
    for name in (".result.json.7.part", "result.json", ".claim", "my.part"):
        (tmp_path / name).touch()
    clear_unfinished(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"result.json", ".claim", "my.part"}


def test_a_lock_is_held_by_one_at_a_time_and_free_afterwards(tmp_path):
    with locked(tmp_path / "lock") as first:
        with locked(tmp_path / "lock", wait=False) as second:
            assert (first, second) == (True, False)
        with locked(tmp_path / "other", wait=False) as other:
            assert other
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "lock"):
        1 / 0  # noqa: B018
    with locked(tmp_path / "lock", wait=False) as again:
        assert again


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    def refuse(descriptor, flags):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    message = r"has no file locks \(No locks available\): choose a folder on a local disk"
    with pytest.raises(NoLocksError, match=message), locked(tmp_path / "lock"):
        pass


NOBODYS = "~nobody-of-this-name/scans"


@pytest.mark.bad_input
def test_the_home_of_nobody_is_refused_where_data_images_and_models_are_opened(tmp_path):
    (tmp_path / "list.csv").write_text("path\na.png\n")
    frame = pd.DataFrame({"path": ["a.png"], "label": [0]})
    for opened in (
        lambda: DataSource(NOBODYS).open(),
        lambda: DataSource("hci", root=NOBODYS).open(),
        lambda: from_frame(frame, root=NOBODYS),
        lambda: image_paths([NOBODYS]),
        lambda: images_and_columns([tmp_path / "list.csv"], root=NOBODYS),
        lambda: load(NOBODYS),
    ):
        with pytest.raises(
            InputError, match=re.escape(f"must name an existing home folder, got {NOBODYS}: use the absolute path.")
        ):
            opened()


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfpath,label\n")
    assert read_text(path) == "path,label\n"


@pytest.mark.bad_input
def test_another_encoding_is_named_by_line_and_byte(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("size,grade\n1,léger\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"a.csv must be UTF-8 text, but line 2 has the invalid byte 0xe9"):
        read_text(path)


@pytest.mark.bad_input
def test_a_file_that_cannot_be_read_says_why(tmp_path):
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_text(tmp_path)
