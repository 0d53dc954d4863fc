import json

import pandas as pd

from training.scripts import run_script


def test_runs_killed_at_random_moments_end_in_the_same_bits(tmp_path):
    kills = json.loads(run_script("train_and_be_killed.py", tmp_path, 20))
    assert len(kills) >= 20
    # kills before the first checkpoint prove nothing about going on from one
    assert sum(kill["resumable"] for kill in kills) >= 10

    whole = tmp_path / "whole"
    history = pd.read_csv(whole / "history.csv").drop(columns="seconds")
    assert len(history) == 15
    predictions = pd.read_parquet(whole / "predictions.parquet")
    metrics = json.loads((whole / "result.json").read_text())["metrics"]
    files = sorted(path.name for path in whole.iterdir())
    for run in {kill["run"] for kill in kills}:
        killed = tmp_path / run
        assert (killed / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
        pd.testing.assert_frame_equal(
            pd.read_csv(killed / "history.csv").drop(columns="seconds"), history, check_exact=True
        )
        pd.testing.assert_frame_equal(pd.read_parquet(killed / "predictions.parquet"), predictions, check_exact=True)
        assert json.loads((killed / "result.json").read_text())["metrics"] == metrics
        assert sorted(path.name for path in killed.iterdir()) == files  # no halves of files are left behind
