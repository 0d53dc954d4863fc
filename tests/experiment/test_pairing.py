import math

import pandas as pd
import pytest

from onepeak.errors import InputError, UnknownNameError
from onepeak.experiment.pairing import paired
from onepeak.experiment.records import read_results
from run_folders import write_comparison, write_run


def test_runs_are_paired_by_split_and_fold(tmp_path):
    for fold, (ce, elb) in enumerate([(0.75, 0.5), (1.0, 0.5)]):
        write_run(tmp_path, method="ce", split=1, fold=fold, mae=ce)
        write_run(tmp_path, method="elb", split=1, fold=1 - fold, mae=elb + fold)
    # fold 0: .75 against 1.5; fold 1: 1.0 against .5
    assert paired(read_results(tmp_path), "test_mae", "ce", "elb").differences.tolist() == [-0.75, 0.5]


def test_a_run_that_one_method_lacks_is_left_out(tmp_path):
    write_comparison(tmp_path, {"ce": [0.5, 0.75, None, 1.0], "elb": [0.25, None, 0.5, 0.25]})
    assert paired(read_results(tmp_path), "test_mae", "ce", "elb").differences.tolist() == [0.25, 0.75]


def test_a_figure_that_is_not_defined_is_left_out(tmp_path):
    write_run(tmp_path, method="ce", split=0, tau=None)
    write_run(tmp_path, method="ce", split=1, tau=0.5)
    write_comparison(tmp_path, {"elb": [0.75, 0.75]}, metric="tau")
    assert paired(read_results(tmp_path), "test_tau", "ce", "elb").differences.tolist() == [-0.25]


def test_the_ratio_is_that_of_the_runs_that_are_paired(tmp_path):
    write_comparison(tmp_path, {"elb": [0.5, 0.5]})
    write_run(tmp_path, method="ce", split=0, sizes=(50, 10, 25))
    write_run(tmp_path, method="ce", split=1, sizes=(40, 10, 10))
    write_run(tmp_path, method="ce", split=2, sizes=(1, 1, 98))
    assert paired(read_results(tmp_path), "test_mae", "ce", "elb").test_train_ratio == pytest.approx((0.5 + 0.25) / 2)


def test_methods_that_share_no_split_have_no_pair(tmp_path):
    write_comparison(tmp_path, {"ce": [0.5, None], "elb": [None, 0.5]})
    found = paired(read_results(tmp_path), "test_mae", "ce", "elb")
    assert len(found.differences) == 0
    assert math.isnan(found.test_train_ratio)


@pytest.mark.bad_input
def test_two_runs_of_one_split_and_fold_are_refused(tmp_path):
    write_comparison(tmp_path, {"ce": [0.5], "elb": [0.25]})
    write_run(tmp_path, method="ce", split=0, label="again")
    results = read_results(tmp_path).replace({"label": {"again": "ce"}})
    with pytest.raises(InputError, match="must have one run of 'ce' on split 0, fold 0, got more"):
        paired(results, "test_mae", "ce", "elb")


def test_a_row_that_is_not_there_is_named():
    runs = pd.DataFrame({"label": ["ce", "elb"], "split": 0, "fold": 0, "test_mae": 1.0, "num_test": 2, "num_train": 6})
    with pytest.raises(UnknownNameError, match=r"Unknown row of `results` 'cee'\. Did you mean 'ce'"):
        paired(runs, "test_mae", "elb", "cee")
