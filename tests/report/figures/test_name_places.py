import itertools

import numpy as np
import pytest

from onepeak.report.figures.canvas import printed
from onepeak.report.figures.name_places import NEAR, Boxes, NoRoomError, name_points, places_of_names


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
