import contextlib

import pytest

from onepeak.errors import InputError
from onepeak.serving.http import Limits
from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.limits import RequestLimiter


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
def test_room_for_all_bodies_is_no_less_than_for_one():
    with pytest.raises(InputError, match="`max_buffered_bytes` must be at least `max_bytes`, 100, got 99"):
        Limits(max_bytes=100, max_buffered_bytes=99)


@pytest.mark.bad_input
def test_one_request_too_many_is_told_when_to_come_back():
    room = RequestLimiter(Limits(max_requests=2))
    with room.request(), room.request():
        with pytest.raises(RequestError, match="busy: 2 requests wait") as refused, room.request():
            pass
        assert refused.value.status == 503
        assert 1 <= int(refused.value.headers["Retry-After"]) <= 60
    with room.request():
        assert room.num_requests == 1
    assert room.num_requests == 0


@pytest.mark.bad_input
def test_bytes_are_given_back_whatever_becomes_of_a_request():
    room = RequestLimiter(Limits(max_bytes=100, max_buffered_bytes=100))
    with room.body() as first, room.body() as second:
        first.take(60)
        second.take(40)
        with pytest.raises(RequestError, match="busy: 100 bytes wait") as refused:
            second.take(1)
        assert refused.value.status == 503
    assert room.num_bytes == 0


def test_bytes_of_a_request_that_fails_are_given_back():
    room = RequestLimiter(Limits(max_bytes=100, max_buffered_bytes=100))
    with contextlib.suppress(KeyError), room.body() as body:
        body.take(100)
        raise KeyError
    assert room.num_bytes == 0


def test_the_time_to_wait_follows_the_time_that_requests_take(monkeypatch):
    room, now = RequestLimiter(Limits(max_requests=1)), 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    for _ in range(100):
        with room.request():
            now += 9.5
    with room.request(), pytest.raises(RequestError, match="Retry after 10 s"), room.request():
        pass
