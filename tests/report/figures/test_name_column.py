import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from onepeak.report.figures.name_column import _rising, column_of_names, limits_around, limits_of_order

POINT = st.tuples(st.sampled_from([0.0, 0.5, 1.0, 1.9, 2.0]), st.sampled_from([0.0, 0.25, 0.5, 0.99, 1.0]))


def side_of(point, start, end):
    """Of the line from start to end: positive to its left, negative to its right."""
    return (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])


def cross(one, other):
    """Whether two lines have a point within both in common."""
    return all(side_of(a, *line) * side_of(b, *line) < -1e-9 for (a, b), line in ((one, other), (other, one)))


@given(st.lists(POINT, min_size=1, max_size=40))
def test_names_are_apart_and_within_and_no_lines_to_them_cross(points):
    rows = {str(place): point for place, point in enumerate(points)}
    heights = column_of_names(rows, (-0.1, 2.1), (-0.1, 1.1))
    risen = sorted(heights.values())
    assert all(upper - lower > 1.19 / max(20, len(points) + 1) for lower, upper in itertools.pairwise(risen))
    assert risen[0] > -0.1
    assert risen[-1] < 1.1
    lines = [(rows[row], (2.1, heights[row])) for row in rows]
    assert not any(cross(one, other) for one, other in itertools.combinations(lines, 2))


def test_lines_that_would_cross_end_at_each_others_names():
    # Names of these two stand above both points, which lie at the lower edge: the line of the left one goes over the
    # right one, and would cross the other on its way to the lower of the two names.
    heights = column_of_names({"left": (0.0, 0.0), "right": (1.0, 0.0)}, (0.0, 2.0), (0.0, 1.0))
    assert heights == pytest.approx({"left": 0.075, "right": 0.025})


def test_a_name_that_is_alone_at_its_height_stands_there():
    heights = column_of_names({"elb": (1.0, 0.9), "ce": (2.0, 0.5)}, (0.0, 3.0), (0.0, 1.0))
    assert heights == pytest.approx({"elb": 0.9, "ce": 0.5})


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=12))
def test_the_nearest_rising_heights_are_those_of_isotonic_regression(values):
    np.testing.assert_allclose(_rising(np.array(values)), isotonic_regression(values).x, atol=1e-9)


def test_an_axis_reaches_a_little_beyond_what_is_drawn():
    assert limits_around([(1.0, 2.0), (1.5, 3.0)]) == pytest.approx((0.88, 3.12))
    assert limits_around([(2.0, 2.0)]) == pytest.approx((1.88, 2.12))
    assert limits_around([(0.0, 0.0)]) == (-0.5, 0.5)


def test_an_axis_of_order_ends_above_one_and_is_never_narrower_than_two_in_a_hundred():
    assert limits_of_order([(0.9, 1.5)]) == pytest.approx((0.894, 1.006))
    assert limits_of_order([(1.0, 1.0)]) == pytest.approx((0.9788, 1.0012))
    assert limits_of_order([(0.5, 0.501)]) == pytest.approx((0.4798, 0.5022))
