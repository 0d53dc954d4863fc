import math

import pytest

from onepeak.metrics.functional.side_order_index import side_order_chance
from onepeak.report.palette import styles
from onepeak.serving.inspector.overview import curves, overview
from onepeak.serving.inspector.runs import find_runs
from report.whole_runs import write_whole_comparison
from run_folders import write_run


def look_at(folder, num_classes=5):
    runs = find_runs(folder).runs
    return overview(runs, styles({run.row: run.method for run in runs}), num_classes=num_classes)


@pytest.mark.parametrize("num_classes", [2, 8, 70])
def test_chance_is_that_of_the_side_order_index(tmp_path, num_classes):
    write_run(tmp_path, method="ce")
    assert look_at(tmp_path, num_classes).chance == side_order_chance(num_classes)


def test_figures_are_means_over_runs_and_the_best_is_marked(tmp_path):
    for method, errors in {"ce": (1.0, 2.0), "elb": (1.0, 1.0)}.items():
        for split, mae in enumerate(errors):
            write_run(tmp_path, method=method, split=split, mae=mae, soi_predicted=0.25 * mae)
    rows = {row.row: row for row in look_at(tmp_path).rows}
    assert (rows["ce"].figures["mae"].mean, rows["elb"].figures["mae"].mean) == (1.5, 1.0)
    assert rows["ce"].figures["mae"].std == pytest.approx(math.sqrt(0.5), abs=1e-6)
    assert [rows[row].figures["mae"].best for row in ("ce", "elb")] == [False, True]
    assert [rows[row].figures["soi_predicted"].best for row in ("ce", "elb")] == [True, False]
    assert rows["ce"].points == ((1.0, 0.25), (2.0, 0.5))


def test_the_best_is_so_on_the_splits_that_all_have(tmp_path):
    for method, errors in {"ce": (2.0,), "elb": (1.0, 9.0), "mv": (None, 3.0)}.items():
        for split, mae in enumerate(errors):
            write_run(tmp_path, method=method, split=split, mae=mae)
    rows = {row.row: row.figures["mae"] for row in look_at(tmp_path).rows}
    assert [rows[row].best for row in ("ce", "elb", "mv")] == [False, False, False]  # no split is shared by all
    write_run(tmp_path, method="mv", split=0, mae=3.0)
    rows = {row.row: row.figures["mae"] for row in look_at(tmp_path).rows}
    assert [rows[row].best for row in ("ce", "elb", "mv")] == [False, True, False]
    assert (rows["ce"].mean, rows["elb"].mean) == (2.0, 5.0)


def test_what_is_not_defined_is_none(tmp_path):
    write_run(tmp_path, method="ce", mae=None)
    row = look_at(tmp_path).rows[0]
    assert (row.figures["mae"].mean, row.figures["mae"].best, row.points) == (None, False, ())
    assert row.figures["accuracy"].std is None  # of one run
    assert look_at(tmp_path).upward is None


def test_the_axis_of_consistency_reaches_to_all_runs_that_are_drawn(tmp_path):
    for method, mae, soi in (("ce", 1.0, 0.88), ("mv", 2.0, 1.0), ("po", None, 0.1)):
        write_run(tmp_path, method=method, mae=mae, soi_predicted=soi)
    assert look_at(tmp_path).upward == pytest.approx((0.8728, 1.0072))


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
