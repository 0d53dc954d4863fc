import math

import pandas as pd

from onepeak.training.history import values_to_lower, write_history


def test_an_epoch_is_a_row_and_undefined_values_are_empty(tmp_path):
    write_history([{"epoch": 0, "valid_mae": 0.5}, {"epoch": 1, "valid_mae": float("nan")}], tmp_path)
    assert (tmp_path / "history.csv").read_text() == "epoch,valid_mae\n0,0.5\n1,\n"
    write_history([{"epoch": 0, "valid_mae": 0.25}], tmp_path)
    assert pd.read_csv(tmp_path / "history.csv").to_dict("list") == {"epoch": [0], "valid_mae": [0.25]}


def test_what_chose_the_epoch_is_read_with_the_best_lowest(tmp_path):
    write_history([{"valid_mae": 2.0, "valid_qwk": math.nan}, {"valid_mae": 1.0, "valid_qwk": 0.5}], tmp_path)
    assert values_to_lower(tmp_path, "mae") == [2.0, 1.0]
    assert values_to_lower(tmp_path, "qwk") == [math.inf, -0.5]
    assert values_to_lower(tmp_path, "last") == []
