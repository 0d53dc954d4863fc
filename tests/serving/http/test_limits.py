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
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        *(({"max_rows": value}, "`max_rows` must be an integer >= 1, got") for value in (0, -1, 1.5, True, "9")),
        *(({name: 0}, f"`{name}` must be an integer >= 1, got 0") for name in COUNTS),
        ({"answer_seconds": 0}, "`answer_seconds` must be a finite number > 0, got 0"),
        (
            {"max_bytes": 100, "max_buffered_bytes": 99},
            "`max_buffered_bytes` must be at least `max_bytes`, 100, got 99",
        ),
        (
            {"max_request_pixels": 100, "max_waiting_pixels": 99},
            "`max_waiting_pixels` must be at least `max_request_pixels`, 100, got 99",
        ),
    ],
)
def test_a_bound_is_a_whole_number_above_zero_and_room_for_all_no_less_than_for_one(wrong, message):
    with pytest.raises(InputError, match=message):
        Limits(**wrong)


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
        assert load.overloaded
        raise KeyError
    assert set(load.held.values()) == {0}
    with load.request() as share:
        share.take("bytes", 79)
        assert not load.overloaded
        share.take("bytes")
        assert load.overloaded


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
