import asyncio

import pytest
from starlette.requests import Request

from onepeak.serving.http import Limits
from onepeak.serving.http.bodies import read_body
from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.room import Room

LIMITS = Limits(max_bytes=100, upload_seconds=0.2, max_buffered_bytes=1000)


def read(pieces, *, endless=False):
    """Reads a body that arrives in pieces, a pause being a number; gives it and how many pieces were taken."""
    taken = 0

    async def receive():
        nonlocal taken
        if taken == len(pieces):
            await asyncio.sleep(10)
        piece = pieces[taken]
        taken += 1
        if isinstance(piece, float):
            await asyncio.sleep(piece)
            return await receive()
        return {"type": "http.request", "body": piece, "more_body": endless or taken < len(pieces)}

    async def run():
        with Room(LIMITS).body() as held:
            body = await read_body(Request({"type": "http", "headers": []}, receive), LIMITS, held)
            return body, held.num_bytes

    return asyncio.run(run()), taken


def test_a_body_is_put_together_and_counted():
    assert read([b"a" * 60, b"", 0.01, b"b" * 40]) == ((b"a" * 60 + b"b" * 40, 100), 4)


@pytest.mark.bad_input
def test_an_empty_body_is_refused():
    with pytest.raises(RequestError, match="must have a body, got an empty one") as refused:
        read([b""])
    assert refused.value.status == 400


@pytest.mark.bad_input
def test_a_large_body_is_read_on_for_a_while_so_that_its_sender_sees_the_answer():
    for pieces in ([b"x" * 101], [b"x" * 60] * 5):
        with pytest.raises(RequestError, match="at most 100 bytes, got more") as refused:
            read(pieces)
        assert (refused.value.status, refused.value.headers) == (413, {"Connection": "close"})
    with pytest.raises(RequestError, match="at most 100 bytes"):
        read([b"x" * 60] * 7, endless=True)
    with pytest.raises(RequestError, match="at most 100 bytes"):
        read([b"x" * 60] * 3, endless=True)  # and then nothing comes any more


@pytest.mark.bad_input
def test_a_body_that_takes_too_long_is_refused():
    with pytest.raises(RequestError, match=r"must arrive within 0\.2 s, got 1 bytes in that time") as refused:
        read([b"x"], endless=True)
    assert refused.value.status == 408
    with pytest.raises(RequestError, match="got 9 bytes in that time"):
        read([b"xxx", 0.05] * 3, endless=True)
