import math
import re

import pytest

from onepeak.errors import InputError
from onepeak.experiment import results
from onepeak.metrics.functional.side_order_index import side_order_chance
from onepeak.report.palette import styles
from onepeak.serving.inspector.runs import curves, find_runs, overview
from report.whole_runs import write_failure, write_whole_comparison
from run_folders import write_run


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
def test_runs_on_two_data_sets_are_refused(tmp_path):
    write_run(tmp_path, method="ce", dataset="mine")
    write_run(tmp_path, method="mv", dataset="yours")
    with pytest.raises(InputError, match="must hold runs on one data set, got mine, yours"):
        find_runs(tmp_path)


def look_at(folder, num_classes=5):
    runs = find_runs(folder).runs
    return overview(runs, styles({run.row: run.method for run in runs}), num_classes=num_classes)


def test_figures_are_means_over_runs_and_the_best_is_marked(tmp_path):
    for method, errors in {"ce": (1.0, 2.0, 3.0), "elb": (1.0, 1.0, 1.0)}.items():
        for split, mae in enumerate(errors):
            write_run(tmp_path, method=method, split=split, mae=mae, soi_predicted=0.25 * mae)
    rows = {row.row: row for row in look_at(tmp_path).rows}
    assert (rows["ce"].figures["mae"].mean, rows["elb"].figures["mae"].mean) == (2.0, 1.0)
    assert rows["ce"].figures["mae"].std == 1.0
    assert [rows[row].figures["mae"].best for row in ("ce", "elb")] == [False, True]
    assert [rows[row].figures["soi_predicted"].best for row in ("ce", "elb")] == [True, False]
    assert rows["ce"].points == ((1.0, 0.25), (2.0, 0.5), (3.0, 0.75))
    assert look_at(tmp_path, 8).chance == side_order_chance(8)
    low, high = look_at(tmp_path).upward
    assert low < 0.25 < 0.75 < high


def test_the_best_is_so_on_the_splits_that_all_have(tmp_path):
    for method, errors in {"ce": (2.0, 2.0, 2.0), "elb": (1.0, 1.0, 1.0, 9.0), "mv": (None, 3.0, 3.0, 3.0)}.items():
        for split, mae in enumerate(errors):
            write_run(tmp_path, method=method, split=split, mae=mae)
    rows = {row.row: row.figures["mae"] for row in look_at(tmp_path).rows}
    assert [rows[row].best for row in ("ce", "elb", "mv")] == [False, False, False]  # two splits are too few
    write_run(tmp_path, method="mv", split=0, mae=3.0)
    rows = {row.row: row.figures["mae"] for row in look_at(tmp_path).rows}
    assert [rows[row].best for row in ("ce", "elb", "mv")] == [False, True, False]
    assert (rows["ce"].mean, rows["elb"].mean) == (2.0, 3.0)


def test_what_is_not_defined_is_none(tmp_path):
    write_run(tmp_path, method="ce", mae=None)
    row = look_at(tmp_path).rows[0]
    assert (row.figures["mae"].mean, row.figures["mae"].best, row.points) == (None, False, ())
    assert row.figures["accuracy"].std is None  # of one run
    assert look_at(tmp_path).upward is None


def test_curves_follow_the_histories_and_do_without_damaged_ones(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 1.0, "elb": 0.0, "mv": 0.0, "po": 0.0}, splits=1, epochs=4)
    (tmp_path / "runs" / "mv" / "split0-fold0" / "history.csv").write_text("epoch,valid_mae\n0,none\n")
    (tmp_path / "runs" / "po" / "split0-fold0" / "history.csv").write_text("")
    found = curves(find_runs(tmp_path).runs)
    assert list(found["mae"]) == ["ce", "elb"]
    course = found["mae"]["elb"]
    mae = {row.row: row for row in look_at(tmp_path).rows}["elb"].figures["mae"].mean
    assert course.epochs == [1, 2, 3, 4]
    assert course.mean == pytest.approx([mae + 1, mae + 2 / 3, mae + 1 / 3, mae], abs=1e-4)


def test_curves_of_a_history_of_which_some_epochs_were_kept_lie_at_those_epochs(tmp_path):
    write_whole_comparison(tmp_path, {"ce": 1.0}, splits=1, epochs=31)
    whole = curves(find_runs(tmp_path).runs)["mae"]["ce"]
    path = tmp_path / "runs" / "ce" / "split0-fold0" / "history.csv"
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header, *lines[::10]]) + "\n")
    kept = curves(find_runs(tmp_path).runs)["mae"]["ce"]
    assert kept.epochs == list(range(1, 32))
    assert kept.mean == pytest.approx(whole.mean, abs=1e-4)  # its course is a straight line
