import math

import pandas as pd

from reproduction.epochs import chosen_early, course, epochs_table, longest_table, plateau_table
from reproduction.runs import read_runs


def test_epochs_kept_for_being_the_best_do_not_count_among_every_tenth():
    history = pd.DataFrame(
        {
            "epoch": [0, 10, 13, 200, 210, 215],
            "valid_mae": [9.0, 5.0, 1.0, 4.5, 4.0, 0.5],
            "valid_loss": [3.0, 2.0, 0.1, 4.0, 2.5, 0.0],
            "valid_soi_predicted": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        }
    )
    found = course(history, chosen=13)
    assert (found.chosen_mae, found.early_mae, found.late_mae, found.tenth_mae) == (1.0, 5.0, 4.0, 4.0)
    assert (found.by_loss, found.by_loss_mae, found.by_loss_soi, found.tenth_soi) == (10, 5.0, 0.2, 0.5)


def test_a_run_that_ends_before_has_no_late_epochs():
    columns = ("valid_mae", "valid_loss", "valid_soi_predicted")
    history = pd.DataFrame({"epoch": [0, 10], **{name: [1.0, 2.0] for name in columns}})
    assert math.isnan(course(history, chosen=0).late_mae)


def test_the_table_has_a_row_for_each_method_form_and_length(runs, records, write_fgnet_run):
    write_fgnet_run(records, "ce", 3, epochs=200, chosen=8)
    rows = [line.strip("| ").split(" | ") for line in epochs_table(read_runs(records)).splitlines()]
    assert ["CE", "corrected", "300", "mae", "53, 53, 53", "4.00", "5.00", "7.00", "20, 20, 20", "5.20"] in rows
    assert ["CE", "corrected", "200", "mae", "8", "4.00", "5.00", "\N{EN DASH}", "20", "5.20"] in rows
    assert [row[:4] for row in rows][2] == ["LD", "as published", "300", "loss"]


def test_runs_that_were_chosen_late_are_counted(runs):
    of_each = ", ".join(f"{name} {(runs['name'] == name).sum()}" for name in dict.fromkeys(runs["name"]))
    (latest,) = runs.loc[runs["best_epoch"] == 210, "name"]
    assert chosen_early(runs) == (
        f"{len(runs)} runs continue past epoch 200 ({of_each}). {len(runs) - 1} of them have their best validation "
        f"before it; the latest epoch chosen is 210 ({latest})."
    )
    assert chosen_early(runs.assign(epochs=200)) == "No run yet continues past epoch 200."
    longer = pd.concat([runs, runs.assign(epochs=1000)], ignore_index=True)
    assert chosen_early(longer) == chosen_early(runs)  # two lengths of one split count once


def test_longer_runs_are_compared_on_the_splits_of_both(runs, tmp_path, write_fgnet_run):
    for split, mae in enumerate((4.8, 6.1)):
        write_fgnet_run(tmp_path / "long", "ce", split, epochs=1000, chosen=60, mae=mae)
    rows = longest_table(runs, read_runs(tmp_path / "long")).splitlines()[2:]
    cells = rows[0].strip("| ").split(" | ")
    short, long = ["300", "53, 53", "4.000", "5.50"], ["1000", "60, 60", "4.000", "5.45"]
    assert cells == ["CE", "0, 1", *short, *long, "\N{MINUS SIGN}0.05"]
    assert len(rows) == 1


def test_the_plateau_is_read_from_every_tenth_epoch_before_and_after_the_last_step(tmp_path, write_fgnet_run):
    write_fgnet_run(tmp_path, "ce", epochs=400, chosen=333)  # the chosen epoch is kept, and is not a tenth one
    (row,) = plateau_table(read_runs(tmp_path)).splitlines()[2:]
    mae, soi = ("7.45 ± 0.30", "8.45 ± 0.30", "+1.00"), ("52.5 ± 0.3", "53.5 ± 0.3", "+1.0")
    assert row.strip("| ").split(" | ") == ["CE", "0", *mae, *soi]
