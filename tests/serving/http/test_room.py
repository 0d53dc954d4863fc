import contextlib

import pytest

from onepeak.serving.http import Limits
from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.room import Room


@pytest.mark.bad_input
def test_one_request_too_many_is_told_when_to_come_back():
    room = Room(Limits(max_requests=2))
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
    room = Room(Limits(max_bytes=100, max_buffered_bytes=100))
    with room.body() as first, room.body() as second:
        first.take(60)
        second.take(40)
        with pytest.raises(RequestError, match="busy: 100 bytes wait") as refused:
            second.take(1)
        assert refused.value.status == 503
    assert room.num_bytes == 0


def test_bytes_of_a_request_that_fails_are_given_back():
    room = Room(Limits(max_bytes=100, max_buffered_bytes=100))
    with contextlib.suppress(KeyError), room.body() as body:
        body.take(100)
        raise KeyError
    assert room.num_bytes == 0


def test_the_time_to_wait_follows_the_time_that_requests_take(monkeypatch):
    room, now = Room(Limits(max_requests=1)), 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    for _ in range(100):
        with room.request():
            now += 9.5
    with room.request(), pytest.raises(RequestError, match="Retry after 10 s"), room.request():
        pass
