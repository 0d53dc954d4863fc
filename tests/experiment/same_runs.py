"""What must be alike however the runs of a comparison were made."""

import json

import pandas as pd

from experiment.tiny import files_of


def assert_same_runs(found, expected):
    """Two folders hold the same runs, bit for bit but for times."""
    names = {name for name in files_of(expected) if name.startswith("runs/")}
    assert {name for name in files_of(found) if name.startswith("runs/")} == names
    runs = [path.parent.relative_to(expected) for path in expected.rglob("result.json")]
    assert runs
    for run in runs:
        one, other = found / run, expected / run
        for name in ("model.safetensors", "predictions.parquet", "onepeak.json"):
            assert (one / name).read_bytes() == (other / name).read_bytes()
        histories = [pd.read_csv(folder / "history.csv").drop(columns="seconds") for folder in (one, other)]
        pd.testing.assert_frame_equal(*histories, check_exact=True)
        results = [json.loads((folder / "result.json").read_text()) for folder in (one, other)]
        assert results[0] | {"seconds": 0} == results[1] | {"seconds": 0}
