"""Reads the whole body of a request before any processing, so that a slow client blocks nobody else."""

import asyncio

from starlette.requests import Request

from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.limits import Limits
from onepeak.serving.http.room import Body


async def read_body(request: Request, limits: Limits, held: Body) -> bytes:
    """Reads the body.

    A body that is too large is read and discarded for a while: a client that is still sending would not see the answer.

    Args:
        request: A request whose body is not read yet.
        limits: Limits on its size and on the time it may take.
        held: Where its bytes are counted.

    Raises:
        RequestError: The body is empty, too large, or too slow.
    """
    kept = bytearray()
    size = 0
    try:
        async with asyncio.timeout(limits.upload_seconds):
            async for piece in request.stream():
                size += len(piece)
                if size <= limits.max_bytes:
                    held.take(len(piece))
                    kept += piece
                elif size > 4 * limits.max_bytes:
                    break
    except TimeoutError:
        if size <= limits.max_bytes:
            raise RequestError(
                408,
                f"The body must arrive within {limits.upload_seconds:g} s, got {size} bytes in that time.",
                headers={"Connection": "close"},
            ) from None
    if size > limits.max_bytes:
        raise RequestError(
            413,
            f"The body must have at most {limits.max_bytes} bytes, got more: send fewer or smaller items.",
            headers={"Connection": "close"},
        )
    if not size:
        raise RequestError(400, "The request must have a body, got an empty one: see /docs.")
    return bytes(kept)
