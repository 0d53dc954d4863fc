"""What the page of `onepeak fit` sets beside it: the benchmark's runs on the same test part, chosen on validation."""

import pandas as pd

from fit import compared


def benchmark_run(method, lr, *, valid, test, split=0):
    figures = {"mae": test, "qwk": 0.5, "rps_calibrated": test / 2, "unimodal": 1.0}
    return {"set": "lev", "method": method, "lr": lr, "split": split, "fold": 0, "valid_mae": valid} | figures


def test_the_rivals_are_chosen_by_validation_on_the_same_part():
    benchmark = pd.DataFrame(
        [
            benchmark_run("peak", 0.003, valid=0.5, test=0.44),
            benchmark_run("peak", 0.01, valid=0.4, test=0.43),
            benchmark_run("corn", 0.003, valid=0.3, test=0.42),
            benchmark_run("ce", 0.003, valid=0.6, test=0.11),
            benchmark_run("ren", 0.003, valid=0.1, test=0.01, split=1),
        ]
    )
    fit = {"set": "lev", "candidates": 9, "members": 3, "seconds": 60, "mae": 0.41, "qwk": 0.6}
    runs = pd.DataFrame([fit | {"rps_calibrated": 0.2, "unimodal": 1.0, "constant_mae": 0.72}])
    lines = compared(runs, benchmark).splitlines()[2:]
    assert [line.split("|")[3].strip() for line in lines] == ["0.410", "0.420", "0.430", "0.440", "0.720"]
    assert "best of 4 by validation: `corn`, 0.003" in lines[1]
