import numpy as np
import pytest

from name_places import Boxes, places_of_names


def test_names_that_have_no_room_are_not_drawn_over_each_other():
    points, sizes = np.full((3, 2), 10.0), np.full((3, 2), 15.0)
    with pytest.raises(ValueError, match="no room for all names"):
        places_of_names(points, sizes, Boxes(np.array([[0.0, 0.0]]), np.array([[30.0, 30.0]])))


def test_a_name_that_is_left_no_place_chooses_first():
    points = np.array([[10.0, 10.0], [38.0, 10.0]])  # the first would take the only place that the second has
    sizes, room = np.array([[10.0, 8.0], [24.0, 8.0]]), Boxes(np.array([[0.0, 5.0]]), np.array([[45.0, 26.0]]))
    names = places_of_names(points, sizes, room)
    assert not Boxes(names.low[:1], names.high[:1]).overlap(Boxes(names.low[1:], names.high[1:]))
