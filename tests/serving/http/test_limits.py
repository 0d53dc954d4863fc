import asyncio
import contextlib

import pytest
from starlette.requests import ClientDisconnect, Request

from onepeak.errors import InputError
from onepeak.serving.http import Limits
from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.limits import Load, while_wanted

COUNTS = [name for name in vars(Limits()) if name.startswith("max_")]


@pytest.mark.bad_input
@pytest.mark.parametrize("name", COUNTS)
def test_a_bound_is_a_whole_number_above_zero(name):
    for value in (0, -1, 1.5, True, "9"):
        with pytest.raises(InputError, match=f"`{name}` must be an integer >= 1, got"):
            Limits(**{name: value})


@pytest.mark.bad_input
def test_room_for_all_requests_is_no_less_than_for_one_and_times_are_positive():
    with pytest.raises(InputError, match="`max_buffered_bytes` must be at least `max_bytes`, 100, got 99"):
        Limits(max_bytes=100, max_buffered_bytes=99)
    with pytest.raises(InputError, match="`max_waiting_pixels` must be at least `max_request_pixels`, 100, got 99"):
        Limits(max_request_pixels=100, max_waiting_pixels=99)
    with pytest.raises(InputError, match="`answer_seconds` must be a finite number > 0, got 0"):
        Limits(answer_seconds=0)


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


def test_from_four_fifths_of_any_limit_on_the_server_is_overloaded():
    load = Load(Limits(max_requests=5, max_bytes=10, max_buffered_bytes=100))
    for name, amount in (("requests", 4), ("bytes", 80), ("pixels", 800_000_000)):
        with load.request() as share:
            share.take(name, amount - 1)
            assert not load.overloaded
            share.take(name)
            assert load.overloaded
    assert not load.overloaded


def ended(limits, *, leaves_after=None):
    """Runs work of ten seconds for a client; gives what came of it, and whether the work was stopped."""
    stopped = []

    async def work():
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            stopped.append(True)
            raise

    async def receive():
        await asyncio.sleep(20 if leaves_after is None else leaves_after)
        return {"type": "http.disconnect"}

    async def run():
        request = Request({"type": "http", "headers": []}, receive)
        (found,) = await asyncio.gather(while_wanted(request, Load(limits), work()), return_exceptions=True)
        return found

    return asyncio.run(run()), stopped == [True]


def test_work_stops_when_its_client_has_gone_or_its_time_is_over():
    found, stopped = ended(Limits(), leaves_after=0.05)
    assert (type(found), stopped) == (ClientDisconnect, True)
    found, stopped = ended(Limits(answer_seconds=0.05))
    assert (found.status, stopped) == (503, True)
    assert "longer than 0.05 s: send fewer samples" in str(found)
    assert int(found.headers["Retry-After"]) >= 1
