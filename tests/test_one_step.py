import subprocess
import sys

import pytest

from onepeak._one_step import NotWrittenError, clear_unfinished, write_in_one_step, write_text_in_one_step


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


def test_who_writes_a_figure_or_a_history_does_not_wait_for_torch():
    code = "import sys, onepeak.report.figures.canvas, onepeak.training.history; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
