import json
import shlex
import tomllib
from pathlib import Path

import pytest

from mutations import damaged, damaged_json
from onepeak._core.formats import toml_text
from onepeak.errors import InputError
from onepeak.experiment.folder import config_of, read_failure
from onepeak.experiment.run_files import (
    none_done,
    read_config,
    read_content,
    read_run,
    recorded_classes,
)
from onepeak.training.out_folder import history_columns
from onepeak.training.predictions_file import part_predictions

RUN = Path(__file__).parents[1] / "release_0_1" / "comparison" / "runs" / "elb" / "split0-fold0"
RESULT = json.loads((RUN / "result.json").read_text())


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"label": "el', r" is damaged \(Unterminated string"),
        (b"[1, 2]", r" must hold a JSON object, got \[1, 2\]"),
        (b'{"label": "\xff"}', r" is damaged \('utf-8' codec can't decode"),
        (b'{"seed": NaN}', r" is damaged \(NaN is not JSON"),
        (b"[" * 100_000, r" is damaged \(.*recursion"),
        (b'{"method": "ce"}', ": variant: must be given"),
        (b'{"value": "x", "seconds": 1}', ": value: must be a finite number"),
    ],
)
def test_what_is_no_result_is_named_with_the_fix(tmp_path, content, reason):
    (tmp_path / "result.json").write_bytes(content)
    with pytest.raises(InputError, match=rf"result\.json{reason}.* Delete its folder to run it again"):
        read_content(tmp_path / "result.json")


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"num_classes": 10**9}, "num_classes"),
        ({"epochs": 0}, "epochs"),
        ({"recipe": {"epochs": "30"}}, "recipe.epochs"),
        ({"metrics": {"valid": {}, "test": {"mae": "low"}}}, "metrics.test.mae"),
        ({"metrics": {"valid": {}}}, "metrics.test"),
        ({"num_groups": {"train": 1, "test": 1}}, "num_groups.valid"),
    ],
)
def test_a_value_that_cannot_be_is_named_by_its_key(tmp_path, changes, key):
    (tmp_path / "result.json").write_text(json.dumps(RESULT | changes))
    with pytest.raises(InputError, match="must be") as error:
        read_run(tmp_path / "result.json")
    assert error.value.key == key


@pytest.mark.bad_input
def test_a_file_that_cannot_be_read_is_named_and_one_that_is_not_there_is_for_the_reader_to_pass_over(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read: Is a directory\."):
        read_run(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_run(tmp_path / "result.json")


@pytest.mark.bad_input
@pytest.mark.parametrize("number", [150, pytest.param(3000, marks=pytest.mark.slow)])
def test_many_damaged_files_of_each_kind_are_read_or_refused_by_name(tmp_path, number):
    config = RUN.parents[2] / "config.toml"
    failure = {"message": "Too hot.", "time": 1.0, "label": "elb", "traceback": None}
    lying = damaged_json(tomllib.loads(config.read_text()), number * 2 // 3, text=False)  # TOML has no null
    toml = [toml_text(json.loads(each.replace(b"null", b"0"))).encode() for each in lying]
    readers = {
        "result.json": (damaged_json(RESULT, number), lambda: read_run(tmp_path / "result.json")),
        "error.json": (damaged_json(failure, number), lambda: read_failure(tmp_path, since=1.0)),
        "history.csv": (damaged((RUN / "history.csv").read_bytes(), number), lambda: history_columns(tmp_path)),
        "predictions.parquet": (
            damaged((RUN / "predictions.parquet").read_bytes(), number),
            lambda: part_predictions(tmp_path, "valid"),
        ),
        "config.toml": (
            [*damaged(config.read_bytes(), number // 3), *toml],
            lambda: (read_config(tmp_path), config_of(tmp_path)),
        ),
    }
    for name, (contents, read) in readers.items():
        path, refused = tmp_path / name, 0
        for content in contents:
            path.unlink(missing_ok=True)  # a hundred times as fast as cutting off what it holds
            path.write_bytes(content)
            try:
                read()
            except InputError as error:
                refused += str(path) in str(error)
        path.unlink()
        assert refused > number // 15 or name == "error.json", "whose reason is then told as not readable"


def test_settings_that_cannot_be_read_are_none(tmp_path):
    assert read_config(tmp_path) is None
    (tmp_path / "config.toml").write_text("data = 'mine'")
    assert read_config(tmp_path) == {"data": "mine"}
    (tmp_path / "config.toml").write_text("data = ")
    assert read_config(tmp_path) is None
    (tmp_path / "config.toml").write_bytes(b"data = '\xff'")
    assert read_config(tmp_path) is None
    assert recorded_classes(None) == ()
    (tmp_path / "config.toml").write_text("order = ['high', 'low']\n[record]\nclasses = [1, 2]")
    assert recorded_classes(read_config(tmp_path)) == ("1", "2")


def test_how_to_go_on_is_a_command_that_a_shell_understands(tmp_path):
    folder = tmp_path / "my runs"
    folder.mkdir()
    assert none_done(folder) == "none is done."
    (folder / "config.toml").write_text("")
    command = none_done(folder).removeprefix("none is done. Continue with: ")
    assert shlex.split(command) == ["onepeak", "compare", str(folder)]
