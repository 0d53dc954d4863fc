import json
import shlex

import pytest

from onepeak.errors import InputError
from onepeak.experiment.run_files import none_done, read_config, read_json, read_message, recorded_classes


def test_an_object_is_read_whole(tmp_path):
    (tmp_path / "result.json").write_text('{"label": "elb", "split": 1}', encoding="utf-8")
    assert read_json(tmp_path / "result.json") == {"label": "elb", "split": 1}


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"label": "el', r"is damaged \(Unterminated string"),
        (b"[1, 2]", r"is damaged \(it holds a list, not an object\)"),
        (b'{"label": "\xff"}', r"is damaged \('utf-8' codec can't decode"),
    ],
)
def test_what_is_no_object_is_named_with_the_fix(tmp_path, content, reason):
    (tmp_path / "result.json").write_bytes(content)
    with pytest.raises(InputError, match=rf"result\.json {reason}.*: delete its folder to run it again"):
        read_json(tmp_path / "result.json")


@pytest.mark.bad_input
def test_a_file_that_cannot_be_read_is_named_and_one_that_is_not_there_is_for_the_reader_to_pass_over(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read: Is a directory\."):
        read_json(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "result.json")


def test_a_failure_says_its_reason_or_that_it_cannot_be_read(tmp_path):
    path = tmp_path / "error.json"
    path.write_text(json.dumps({"message": "Too hot."}))
    assert read_message(path) == "Too hot."
    for content in ("{", "[]", "{}"):
        path.write_text(content)
        assert read_message(path) == f"the reason cannot be read, as {path} is damaged"


def test_settings_that_cannot_be_read_are_none(tmp_path):
    assert read_config(tmp_path) is None
    (tmp_path / "config.toml").write_text("data = 'mine'")
    assert read_config(tmp_path) == {"data": "mine"}
    (tmp_path / "config.toml").write_text("data = ")
    assert read_config(tmp_path) is None
    (tmp_path / "config.toml").write_bytes(b"data = '\xff'")
    assert read_config(tmp_path) is None


def test_classes_are_those_of_the_record(tmp_path):
    assert recorded_classes(read_config(tmp_path)) == ()
    (tmp_path / "config.toml").write_text("order = ['high', 'low']\n[record]\nclasses = [1, 2]")
    assert recorded_classes(read_config(tmp_path)) == ("1", "2")


def test_how_to_go_on_is_a_command_that_a_shell_understands(tmp_path):
    folder = tmp_path / "my runs"
    folder.mkdir()
    assert none_done(folder) == "none is done."
    (folder / "config.toml").write_text("")
    command = none_done(folder).removeprefix("none is done. Continue with: ")
    assert shlex.split(command) == ["onepeak", "compare", str(folder)]
