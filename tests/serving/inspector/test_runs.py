import math
import re

import pytest

from onepeak.errors import InputError
from onepeak.experiment import results
from onepeak.serving.inspector.runs import find_runs
from report.whole_runs import write_failure
from run_folders import write_result, write_run


def test_rows_come_in_the_order_of_the_experiment_and_their_runs_by_split(tmp_path):
    for method in ("ce", "elb", "extra"):
        for split in (10, 2):
            write_run(tmp_path, method=method, split=split)
    (tmp_path / "config.toml").write_text('methods = [{ name = "elb", label = "elb" }, { name = "ce", label = "ce" }]')
    found = [(each.row, each.part) for each in find_runs(tmp_path).runs]
    assert found == [(row, part) for row in ("elb", "ce", "extra") for part in ("2-0", "10-0")]


def test_the_same_figures_are_read_as_a_report_reads(tmp_path):
    write_run(tmp_path, method="mv", label="mv-long", mae=1.25, tau=None)
    mine, theirs = find_runs(tmp_path).runs[0], results.read_results(tmp_path).iloc[0]
    assert (mine.row, mine.method, mine.metrics["mae"]) == (theirs["label"], theirs["method"], theirs["test_mae"])
    assert math.isnan(mine.metrics["tau"])


def test_classes_are_named_by_the_experiment_or_by_a_model_or_counted(tmp_path):
    place = write_run(tmp_path, method="ce", num_classes=3)
    assert find_runs(tmp_path).classes == ("0", "1", "2")
    (place / "onepeak.json").write_text('{"classes": ["a", "b", "c"]}')
    assert find_runs(tmp_path).classes == ("a", "b", "c")
    (tmp_path / "config.toml").write_text('[record]\nclasses = ["low", "middle", "high"]')
    assert find_runs(tmp_path).classes == ("low", "middle", "high")


def test_one_run_alone_is_read(tmp_path):
    write_result(tmp_path, method="po", split=4)
    assert [(each.row, each.part) for each in find_runs(tmp_path).runs] == [("po", "4-0")]


def test_runs_that_failed_are_told_and_those_tried_again_are_not(tmp_path):
    write_run(tmp_path, method="ce")
    write_failure(tmp_path, label="ce", message="Was tried again.")
    write_failure(tmp_path, label="mv", split=1, message="Too hot.")
    assert find_runs(tmp_path).failed == ("mv, split1-fold0: Too hot.",)


@pytest.mark.bad_input
def test_what_is_no_folder_of_finished_runs_is_refused_as_a_report_refuses_it(tmp_path):
    (tmp_path / "begun" / "runs").mkdir(parents=True)
    for folder in (tmp_path / "nowhere", tmp_path, tmp_path / "begun"):
        with pytest.raises(InputError) as report:
            results.read_results(folder)
        with pytest.raises(InputError, match=re.escape(str(report.value))):
            find_runs(folder)


@pytest.mark.bad_input
def test_a_damaged_result_is_named(tmp_path):
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(InputError, match=r"result\.json: method: must be given"):
        find_runs(tmp_path)


@pytest.mark.bad_input
def test_runs_on_two_data_sets_are_refused(tmp_path):
    write_run(tmp_path, method="ce", dataset="mine")
    write_run(tmp_path, method="mv", dataset="yours")
    with pytest.raises(InputError, match="must hold runs on one data set, got mine, yours"):
        find_runs(tmp_path)
