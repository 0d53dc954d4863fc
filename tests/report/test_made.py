import pytest

from onepeak.experiment.config_file import read_config
from onepeak.experiment.records import read_results
from onepeak.report.made import how_made
from run_folders import write_run


@pytest.fixture
def folder(tmp_path):
    for split in range(3):
        write_run(
            tmp_path,
            method="elb",
            split=split,
            seconds=50.0,
            device="cpu",
            precision="32-true",
            selected_by="mae",
            versions={"torch": "2.15.0"},
        )
    return tmp_path


def test_what_the_first_run_recorded_is_told(folder):
    made = how_made(folder, None, read_results(folder))
    assert made.facts == {
        "runs": "3, seeds 0",
        "protocol": "random",
        "samples": "60 to train on, 20 to choose the epoch on, 20 to test on (first run)",
        "epoch": "chosen by validation mae, of 3",
        "time": "2 min 30 s of training in all, 50 s a run",
        "machine": "cpu, precision 32-true",
        "versions": "torch 2.15.0",
    }
    assert (made.commands, made.config) == ((), "")


def test_runs_that_patience_ended_are_counted(tmp_path):
    for split, epochs in enumerate((23, 60, 31)):
        write_run(tmp_path, method="elb", split=split, epochs=epochs, selected_by="mae", recipe={"epochs": 60})
    facts = how_made(tmp_path, None, read_results(tmp_path)).facts
    assert facts["epoch"] == "chosen by validation mae, of at most 60; 2 of 3 runs stopped before"


def test_the_commands_and_the_settings_are_told_where_they_are_written_down(folder):
    typed = ["onepeak compare mine", "onepeak compare mine --splits 3"]
    (folder / "config.toml").write_text(f"data = 'mine'\n[record]\ncommands = {typed}\n")
    made = how_made(folder, read_config(folder), read_results(folder))
    assert made.commands == tuple(typed)
    assert made.config.startswith("data = 'mine'")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"items": 1002, "groups": None, "group_column": None, "left_out": 0}, "1,002 items"),
        ({"items": 1, "groups": 1, "group_column": None, "left_out": 0}, "1 item of 1 group"),
        (
            {"items": 1002, "groups": 82, "group_column": "patient", "left_out": 3},
            "1,002 items of 82 groups (column patient); 3 items left out by --skip-bad",
        ),
    ],
)
def test_items_groups_and_what_was_left_out_are_told(tmp_path, data, text):
    write_run(tmp_path, method="elb", data=data)
    assert how_made(tmp_path, None, read_results(tmp_path)).facts["data"] == text


@pytest.mark.parametrize(("dataset", "facts"), [("mine", {"data": "1,002 items"}), ("other", {})])
def test_of_earlier_runs_the_settings_know_the_items(folder, dataset, facts):
    (folder / "config.toml").write_text(f"[record]\ndataset = '{dataset}'\nitems = 1002\n")
    found = how_made(folder, read_config(folder), read_results(folder)).facts
    assert {name: text for name, text in found.items() if name == "data"} == facts


def test_what_was_not_recorded_is_said_not_to_be(tmp_path):
    write_run(tmp_path, method="elb")
    facts = how_made(tmp_path, None, read_results(tmp_path)).facts
    assert facts["machine"] == "not recorded, precision not recorded"
    assert "versions" not in facts
