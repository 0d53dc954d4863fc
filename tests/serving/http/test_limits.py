import pytest

from onepeak.errors import InputError
from onepeak.serving.http import Limits


def test_the_defaults_hold_together():
    limits = Limits()
    assert limits.max_buffered_bytes >= limits.max_bytes


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "name",
    ["max_bytes", "max_items", "max_rows", "max_pixels", "max_network_pixels", "max_requests", "max_buffered_bytes"],
)
def test_a_bound_is_a_whole_number_above_zero(name):
    for value in (0, -1, 1.5, True, "9"):
        with pytest.raises(InputError, match=f"`{name}` must be an integer >= 1, got"):
            Limits(**{name: value})


@pytest.mark.bad_input
def test_the_time_to_upload_is_a_number_above_zero():
    for value in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="`upload_seconds` must be a finite number > 0"):
            Limits(upload_seconds=value)


@pytest.mark.bad_input
def test_room_for_all_bodies_is_no_less_than_for_one():
    with pytest.raises(InputError, match="`max_buffered_bytes` must be at least `max_bytes`, 100, got 99"):
        Limits(max_bytes=100, max_buffered_bytes=99)
