import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from onepeak.report.figures.canvas import printed
from onepeak.report.figures.name_positions import (
    NEAR,
    Boxes,
    NoRoomError,
    _rising,
    column_of_names,
    limits_around,
    limits_of_order,
    name_points,
    places_of_names,
)


def test_names_that_have_no_room_are_not_drawn_over_each_other():
    points, sizes = np.full((3, 2), 10.0), np.full((3, 2), 15.0)
    with pytest.raises(NoRoomError, match="no room for all names"):
        places_of_names(points, sizes, Boxes(np.array([[0.0, 0.0]]), np.array([[30.0, 30.0]])))


def test_a_name_that_is_left_no_place_chooses_first():
    points = np.array([[10.0, 10.0], [38.0, 10.0]])  # the first would take the only place that the second has
    sizes, room = np.array([[10.0, 8.0], [24.0, 8.0]]), Boxes(np.array([[0.0, 5.0]]), np.array([[45.0, 26.0]]))
    names = places_of_names(points, sizes, room)
    assert not Boxes(names.low[:1], names.high[:1]).overlap(Boxes(names.low[1:], names.high[1:]))


def test_no_name_covers_what_is_drawn():
    points, sizes = np.array([[50.0, 50.0]]), np.array([[20.0, 10.0]])
    room = Boxes(np.array([[0.0, 0.0]]), np.array([[100.0, 100.0]]))
    bar = np.column_stack([np.arange(100.0), np.full(100, 51.0)])
    assert places_of_names(points, sizes, room).hold(bar)
    assert not places_of_names(points, sizes, room, drawn=bar).hold(bar)


@pytest.mark.parametrize("dpi", [72, 100, 200])
def test_names_of_equal_points_are_apart_and_lines_lead_to_them_whatever_the_resolution(dpi):
    figure, (axes,) = printed()
    axes.set(xlim=(0, 2), ylim=(0, 2))
    names = ["elb", "smooth-slopes", "slopes", "pn", "ce"]
    name_points(figure, axes, np.ones((5, 2)), names, ["#000000"] * 5)
    figure.set_dpi(dpi)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    point = axes.transData.transform((1, 1))
    starts = [line.get_transform().transform(line.get_xydata())[0] for line in axes.lines]
    assert len(starts) > 0
    assert np.allclose(starts, point, atol=1e-6)
    far = [np.linalg.norm(np.clip(point, box.min, box.max) - point) > 2 * NEAR * dpi / 100 for box in boxes]
    assert sum(far) <= len(starts)


def test_names_rather_cover_what_is_drawn_than_each_other():
    figure, (axes,) = printed()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    everywhere = np.stack(np.meshgrid(np.linspace(0, 1, 200), np.linspace(0, 1, 200)), axis=-1).reshape(-1, 2)
    name_points(figure, axes, np.full((1, 2), 0.5), ["elb"], ["#000000"], drawn=everywhere)
    assert [text.get_text() for text in axes.texts] == ["elb"]


def test_where_there_is_no_room_no_name_is_left():
    figure, (axes,) = printed(height=0.6)
    with pytest.raises(NoRoomError):
        name_points(figure, axes, np.full((9, 2), 0.5), ["a long name of a method"] * 9, ["#000000"] * 9)
    assert not axes.texts


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
