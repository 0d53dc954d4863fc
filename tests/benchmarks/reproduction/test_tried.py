import numpy as np

from onepeak.experiment.results import read_predictions
from reproduction.runs import read_runs
from reproduction.tried import tried_table


def test_each_setting_says_what_it_gives(runs, records, tmp_path, write_fgnet_run):
    for split, mae in enumerate((5.4, 6.4)):
        write_fgnet_run(tmp_path / "short", "ce", split, epochs=60, chosen=8, mae=mae)
    write_fgnet_run(tmp_path / "divided", "ld", 0, variant="as_published", mae=21.0)
    table = tried_table(runs, read_runs(tmp_path / "short"), read_runs(tmp_path / "divided"))
    rows = dict(line.strip("| ").split(" | ") for line in table.splitlines()[2:])
    loss = "keep the epoch with the lowest loss, as the code does"
    assert [tried for tried in rows if loss in tried] == [f"{name}: {loss}" for name in ("CE", "LD", "MV")]
    assert rows[f"CE: {loss}"] == (
        "validation MAE 5.20 instead of 5.00, SOI 50.2 % instead of 50.0 % (every tenth epoch, 3 runs)"
    )
    assert rows["60 epochs, dividing the learning rate every 20"] == "test MAE CE 5.90 instead of 5.50 (2 splits)"
    part = read_predictions(records / "runs" / "mv" / "split0-fold0")
    means = np.exp(part["log_probs"].astype(float)) @ np.arange(70)
    down, nearest = (np.abs(decide(means) - part["label"]).mean() for decide in (np.floor, np.round))
    assert rows["MV: round the mean down, as the code does"] == (
        f"test MAE {down:.2f} instead of {nearest:.2f} (1 split)"
    )
    assert rows["LD as published: average the divergence over the 70 classes as well as over the samples"] == (
        "test MAE 21.00 instead of 18.00 (1 split)"
    )
