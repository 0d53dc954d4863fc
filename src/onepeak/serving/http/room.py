"""How much is under way, and whether there is room for more."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from onepeak.serving.http.failures import RequestError
from onepeak.serving.http.limits import Limits

_LONGEST = 60
"""Seconds that a client is asked to wait at most."""


@final
class Room:
    """Counts requests and bytes; where there is no room left, a request is refused with the time to come back after.

    All calls come from the event loop, so nothing is locked.

    Args:
        limits: The bounds.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.num_requests = 0
        self.num_bytes = 0
        self._seconds = 1.0  # that a request takes, of late

    @contextmanager
    def request(self) -> Iterator[None]:
        """Room for a request whose body has arrived, until it is answered."""
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
        """Room for a body that arrives bit by bit, until its request is answered."""
        body = Body(self)
        try:
            yield body
        finally:
            self.num_bytes -= body.num_bytes

    def take(self, num_bytes: int) -> None:
        """Room for some more bytes."""
        if self.num_bytes + num_bytes > self.limits.max_buffered_bytes:
            raise self._full(f"{self.num_bytes} bytes wait for their answers")
        self.num_bytes += num_bytes

    def _full(self, what: str) -> RequestError:
        seconds = min(max(1, math.ceil(self._seconds)), _LONGEST)
        message = f"The server is busy: {what}. Come back after {seconds} s."
        return RequestError(503, message, headers={"Retry-After": str(seconds)})


@final
class Body:
    """The bytes that one request holds."""

    def __init__(self, room: Room) -> None:
        self.num_bytes = 0
        self._room = room

    def take(self, num_bytes: int) -> None:
        """Some more have arrived."""
        self._room.take(num_bytes)
        self.num_bytes += num_bytes
