import contextlib

import pytest

from onepeak.errors import InputError
from onepeak.serving.http import Limits
from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.limits import Load

COUNTS = [name for name in vars(Limits()) if name.startswith("max_")]


@pytest.mark.bad_input
@pytest.mark.parametrize("name", COUNTS)
def test_a_bound_is_a_whole_number_above_zero(name):
    for value in (0, -1, 1.5, True, "9"):
        with pytest.raises(InputError, match=f"`{name}` must be an integer >= 1, got"):
            Limits(**{name: value})


@pytest.mark.bad_input
def test_room_for_all_bodies_is_no_less_than_for_one():
    with pytest.raises(InputError, match="`max_buffered_bytes` must be at least `max_bytes`, 100, got 99"):
        Limits(max_bytes=100, max_buffered_bytes=99)


@pytest.mark.bad_input
def test_what_is_too_much_is_refused_with_a_time_to_come_back_and_all_is_given_back_after_any_end():
    load = Load(Limits(max_requests=2, max_bytes=100, max_buffered_bytes=100))
    with contextlib.suppress(KeyError), load.request() as first, load.request() as second:
        first.take("bytes", 60)
        second.take("bytes", 40)
        first.take("requests")
        second.take("requests")
        for name, held in (("bytes", 100), ("requests", 2)):
            with pytest.raises(RequestError, match=f"busy: {held} {name} wait") as refused, load.request() as third:
                third.take(name)
            assert refused.value.status == 503
            assert 1 <= int(refused.value.headers["Retry-After"]) <= 60
        raise KeyError
    assert set(load.held.values()) == {0}


def test_the_time_to_wait_follows_the_time_that_requests_take(monkeypatch):
    load, now = Load(Limits(max_requests=1)), 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    for _ in range(100):
        with load.request() as share:
            share.take("requests")
            now += 9.5
    with load.request() as share, load.request() as other:
        share.take("requests")
        with pytest.raises(RequestError, match="Retry after 10 s"):
            other.take("requests")
