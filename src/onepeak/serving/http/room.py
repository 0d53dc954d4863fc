"""Counts what is in progress and decides whether there is room for more."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.limits import Limits

_LONGEST = 60
"""The longest wait, in seconds, that a client is asked for."""


@final
class Room:
    """Counts requests and bytes; without room, a request is refused with a time to retry after.

    All calls come from the event loop, so no lock is needed.

    Args:
        limits: The server's limits.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.num_requests = 0
        self.num_bytes = 0
        self._seconds = 1.0  # recent duration of a request

    @contextmanager
    def request(self) -> Iterator[None]:
        """Reserves room for a request whose body has arrived, until it is answered."""
        if self.num_requests >= self.limits.max_requests:
            raise self._full(f"{self.num_requests} requests wait for their answers")
        self.num_requests += 1
        begun = time.monotonic()
        try:
            yield
        finally:
            self.num_requests -= 1
            self._seconds += 0.1 * (time.monotonic() - begun - self._seconds)

    @contextmanager
    def body(self) -> Iterator["Body"]:
        """Reserves room for a body that is arriving, until its request is answered."""
        body = Body(self)
        try:
            yield body
        finally:
            self.num_bytes -= body.num_bytes

    def take(self, num_bytes: int) -> None:
        """Reserves room for more bytes."""
        if self.num_bytes + num_bytes > self.limits.max_buffered_bytes:
            raise self._full(f"{self.num_bytes} bytes wait for their answers")
        self.num_bytes += num_bytes

    def _full(self, what: str) -> RequestError:
        seconds = min(max(1, math.ceil(self._seconds)), _LONGEST)
        message = f"The server is busy: {what}. Retry after {seconds} s."
        return RequestError(503, message, headers={"Retry-After": str(seconds)})


@final
class Body:
    """The bytes held by one request."""

    def __init__(self, room: Room) -> None:
        self.num_bytes = 0
        self._room = room

    def take(self, num_bytes: int) -> None:
        """Counts bytes that have arrived."""
        self._room.take(num_bytes)
        self.num_bytes += num_bytes
