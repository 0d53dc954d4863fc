from onepeak.experiment.config_file import read_config


def test_settings_that_cannot_be_read_are_none(tmp_path):
    assert read_config(tmp_path) is None
    (tmp_path / "config.toml").write_text("data = 'mine'")
    assert read_config(tmp_path) == {"data": "mine"}
    (tmp_path / "config.toml").write_text("data = ")
    assert read_config(tmp_path) is None
    (tmp_path / "config.toml").write_bytes(b"data = '\xff'")
    assert read_config(tmp_path) is None
