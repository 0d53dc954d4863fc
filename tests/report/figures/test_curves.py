import numpy as np
import pytest

from onepeak.report.figures.curves import (
    MOST_POINTS,
    at_every_epoch,
    curve,
    interactive_curves,
    printed_curves,
    smoothing_window,
)
from onepeak.report.palette import styles

LOOKS = styles({"ce": "ce", "elb": "elb"})


def test_runs_of_different_length_count_as_far_as_half_of_them_go():
    found = curve([np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0])])
    assert found.epochs.tolist() == [1, 2, 3]
    assert found.mean.tolist() == [2.0, 2.0, 3.0]
    # the deviations are sqrt(2), 0 and that of one run alone
    assert (found.high - found.mean).tolist() == pytest.approx([2**0.5, 0, 0])
    assert (found.mean - found.low).tolist() == pytest.approx([2**0.5, 0, 0])
    short = [np.array([2.0]), np.array([2.0])]
    assert curve([*short, np.array([5.0, 9.0, 9.0])]).epochs.tolist() == [1]  # one of three would be no mean of them


def test_long_trainings_are_thinned_after_smoothing():
    found = curve([np.arange(1000.0)])
    assert len(found.epochs) <= MOST_POINTS
    assert found.epochs[:3].tolist() == [1, 4, 7]
    assert smoothing_window(1000) == 51
    assert found.mean[100] == 300  # epoch 301, in the middle of a straight line


def test_the_page_shows_the_spread_behind_the_mean():
    curves = {"ce": curve([np.array([1.0, 0.5]), np.array([2.0, 1.5])])}
    figure = interactive_curves(curves, LOOKS, title="validation MAE", chance=0.5)
    spread, mean = figure.data
    assert list(mean.y) == [1.5, 1.0]
    assert list(spread.x) == [1, 2, 2, 1]
    assert figure.layout.shapes[0].y0 == 0.5


def test_one_epoch_of_one_run_is_a_point():
    curves = {"elb": curve([np.array([0.7])])}
    assert interactive_curves(curves, LOOKS, title="validation SOI", percent=True).data[1].mode == "markers"
    axes = printed_curves(curves, curves, LOOKS, chance=0.6).axes
    assert axes[1].lines[0].get_ydata().tolist() == pytest.approx([70])
    assert axes[0].lines[0].get_marker() == "o"


@pytest.mark.parametrize("num_epochs", [1, 2, 4, 10, 18, 60])
def test_epochs_are_whole_numbers_on_the_axis(num_epochs):
    curves = {"elb": curve([np.linspace(1, 0.5, num_epochs)])}
    for axes in printed_curves(curves, curves, LOOKS).axes:
        assert (axes.get_xticks() == axes.get_xticks().round()).all()


def test_a_history_of_every_epoch_stays_as_it_is():
    values = np.array([3.0, np.nan, 1.0])
    np.testing.assert_array_equal(at_every_epoch(np.arange(3), values), values)
