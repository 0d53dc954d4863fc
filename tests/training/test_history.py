import pandas as pd

from onepeak.training.history import write_history


def test_an_epoch_is_a_row_and_undefined_values_are_empty(tmp_path):
    write_history([{"epoch": 0, "valid_mae": 0.5}, {"epoch": 1, "valid_mae": float("nan")}], tmp_path)
    assert (tmp_path / "history.csv").read_text() == "epoch,valid_mae\n0,0.5\n1,\n"
    write_history([{"epoch": 0, "valid_mae": 0.25}], tmp_path)
    assert pd.read_csv(tmp_path / "history.csv").to_dict("list") == {"epoch": [0], "valid_mae": [0.25]}
