"""All limits of a server in one place."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import final

from onepeak._core.values import check_integer, check_number
from onepeak.errors import InputError
from onepeak.serving.http.failures import RequestError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on the size of a request and on how much may wait; a request beyond them is answered with 413, 408 or 503.

    Example:
        >>> Limits(max_items=0)
        Traceback (most recent call last):
        onepeak.errors.InputError: `max_items` must be an integer >= 1, got 0.
    """

    max_bytes: int = 32_000_000
    """Bytes in the body of one request."""
    max_items: int = 256
    """Images in one request."""
    max_rows: int = 10_000
    """Rows of a table in one request."""
    max_pixels: int = 50_000_000
    """Pixels of one image, known from its header: larger images are refused before they are decoded."""
    max_network_pixels: int = 8_000_000
    """Pixels of one image after the model's resizing, which memory and time grow with. The default is about that of a
    whole batch of usual images."""
    upload_seconds: float = 30.0
    """Time for the whole body of a request to arrive."""
    max_requests: int = 512
    """Requests that may wait for their answers at once."""
    max_buffered_bytes: int = 512_000_000
    """Bytes of all bodies that are arriving or waiting for an answer."""

    def __post_init__(self) -> None:
        pixels = ("max_pixels", "max_network_pixels")
        for name in ("max_bytes", "max_items", "max_rows", *pixels, "max_requests", "max_buffered_bytes"):
            check_integer(name, getattr(self, name), minimum=1)
        check_number("upload_seconds", self.upload_seconds, above=0)
        if self.max_buffered_bytes < self.max_bytes:
            raise InputError(
                f"`max_buffered_bytes` must be at least `max_bytes`, {self.max_bytes}, got {self.max_buffered_bytes}."
            )


_LONGEST = 60
"""The longest wait, in seconds, that a client is asked for."""


@final
class Load:
    """What the requests in progress hold; without room, a request is refused with a time to retry after.

    All calls come from the event loop, so no lock is needed.
    """

    def __init__(self, limits: Limits) -> None:
        self.most = {"requests": limits.max_requests, "bytes": limits.max_buffered_bytes}
        self.held = dict.fromkeys(self.most, 0)
        self.seconds = 1.0
        """Recent duration of a request."""

    @contextmanager
    def request(self) -> Iterator["Share"]:
        """Opens a request's share, which is given back at the end."""
        share = Share(self)
        begun = time.monotonic()
        try:
            yield share
        finally:
            for name, amount in share.held.items():
                self.held[name] -= amount
            if share.held["requests"]:
                self.seconds += 0.1 * (time.monotonic() - begun - self.seconds)


@final
class Share:
    """What one request holds."""

    def __init__(self, load: Load) -> None:
        self.held = dict.fromkeys(load.most, 0)
        self._load = load

    def take(self, name: str, amount: int = 1) -> None:
        """Reserves room, such as for bytes that have arrived.

        Raises:
            RequestError: There is none.
        """
        load = self._load
        if load.held[name] + amount > load.most[name]:
            seconds = min(max(1, math.ceil(load.seconds)), _LONGEST)
            message = f"The server is busy: {load.held[name]} {name} wait. Retry after {seconds} s."
            raise RequestError(503, message, headers={"Retry-After": str(seconds)})
        load.held[name] += amount
        self.held[name] += amount
