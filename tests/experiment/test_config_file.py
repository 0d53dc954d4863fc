from onepeak.experiment.config_file import read_config, recorded_classes


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
