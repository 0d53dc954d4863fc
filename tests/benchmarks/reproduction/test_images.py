import pytest

from reproduction.images import (
    mean_course,
    overlay_image,
    tallied,
    tradeoff_image,
)
from reproduction.runs import read_runs


@pytest.mark.parametrize("column", ["valid_mae", "valid_soi_predicted"])
def test_courses_stop_where_the_first_run_does_and_are_the_mean_of_every_tenth_epoch(records, write_fgnet_run, column):
    write_fgnet_run(records, "ce", 3, epochs=200, chosen=8)
    runs = read_runs(records)
    found = mean_course(runs[runs["name"] == "CE"], column)
    assert found.epochs.tolist() == list(range(0, 200, 10))
    expected = (
        [5.0 + epoch / 100 for epoch in found.epochs]
        if column == "valid_mae"
        else [0.5 + epoch / 10_000 for epoch in found.epochs]
    )
    assert found.mean.tolist() == pytest.approx(expected)
    assert found.low.tolist() == pytest.approx(found.high.tolist())  # all runs are the same


def test_the_printed_figures_are_hollow_points_of_the_same_colour(runs):
    axes = tradeoff_image(runs).axes[0]
    hollow = {tuple(line.get_xydata()[0]) for line in axes.lines if line.get_fillstyle() == "none"}
    assert {(round(x, 6), round(y, 6)) for x, y in hollow} == {
        (7.79, 54.11),
        (5.21, 59.72),
        (5.92, 60.58),
        (4.27, 98.96),
    }  # LD's 18.25 lies outside


def test_posteriors_are_those_of_the_first_split_that_was_kept(runs):
    found = tallied(runs)
    assert list(found) == ["CE", "MV"]
    assert {name: tally.num_predictions for name, tally in found.items()} == {"CE": 30, "MV": 30}
    assert len(overlay_image(found).axes) >= 2
