import shlex

from onepeak.experiment.config_file import none_done, read_config, recorded_classes


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
