import numpy as np

from onepeak.report.every_epoch import at_every_epoch


def test_a_history_of_every_epoch_stays_as_it_is():
    values = np.array([3.0, np.nan, 1.0])
    np.testing.assert_array_equal(at_every_epoch(np.arange(3), values), values)


def test_epochs_that_were_not_kept_lie_on_a_straight_line_between_those_that_were():
    course = at_every_epoch(np.array([0, 2, 6]), np.array([1.0, 2.0, 0.0]))
    assert course.tolist() == [1.0, 1.5, 2.0, 1.5, 1.0, 0.5, 0.0]
