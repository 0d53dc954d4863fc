"""What the requests in progress may hold and how long they may take: counted before it is decoded or parsed."""

import asyncio
import contextlib
import ctypes
import math
import time
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, final

from starlette.requests import ClientDisconnect, Request

from onepeak._core.values import check_integer, check_number
from onepeak.errors import InputError
from onepeak.serving.http.failures import RequestError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on requests, alone and together; a request beyond them is answered with 413, 408 or 503.

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
    max_request_pixels: int = 400_000_000
    """Pixels of all images of one request, by their headers: a file of two kilobytes may hold 49 million of them."""
    max_waiting_pixels: int = 1_000_000_000
    """Pixels of the images of all requests in progress."""
    max_requests: int = 512
    """Requests that may wait for their answers, or for these to be read, at once."""
    max_buffered_bytes: int = 512_000_000
    """Bytes of all bodies that are arriving or waiting for an answer, of the values in their JSON, and of answers that
    are not read yet."""
    upload_seconds: float = 30.0
    """Time for the whole body of a request to arrive."""
    answer_seconds: float = 60.0
    """Time to answer a request whose body has arrived; after it, work on the request stops."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name.startswith("max_"):
                check_integer(name, value, minimum=1)
            else:
                check_number(name, value, above=0)
        for all_of_them, one in (("max_buffered_bytes", "max_bytes"), ("max_waiting_pixels", "max_request_pixels")):
            most, least = getattr(self, all_of_them), getattr(self, one)
            if most < least:
                raise InputError(f"`{all_of_them}` must be at least `{one}`, {least}, got {most}.")


_LONGEST = 60
"""The longest wait, in seconds, that a client is asked for."""
_OVERLOADED = 0.8
"""Share of a limit from which the server says that it is not ready for more."""


@final
class Load:
    """What the requests in progress hold; without room, a request is refused with a time to retry after.

    All calls come from the event loop, so no lock is needed.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.most = {
            "requests": limits.max_requests,
            "bytes": limits.max_buffered_bytes,
            "pixels": limits.max_waiting_pixels,
        }
        self.held = dict.fromkeys(self.most, 0)
        self.seconds = 1.0
        """Recent duration of a request."""

    @property
    def overloaded(self) -> bool:
        """Whether further requests had better go to another server."""
        return any(self.held[name] >= _OVERLOADED * most for name, most in self.most.items())

    @contextlib.contextmanager
    def request(self) -> Iterator["Share"]:
        """Opens a request's share, which is given back at the end."""
        share = Share(self)
        begun = time.monotonic()
        try:
            yield share
        finally:
            if share.held["requests"]:
                self.seconds += 0.1 * (time.monotonic() - begun - self.seconds)
            for name in share.held:
                share.give_back(name)

    def busy(self, reason: str) -> RequestError:
        """Returns the refusal of a request for which there is no room or time."""
        seconds = min(max(1, math.ceil(self.seconds)), _LONGEST)
        message = f"The server is busy: {reason}. Retry after {seconds} s."
        return RequestError(503, message, headers={"Retry-After": str(seconds)})


@final
class Share:
    """What one request holds."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.held = dict.fromkeys(load.most, 0)

    def take(self, name: str, amount: int = 1) -> None:
        """Reserves room, such as for bytes that have arrived, or refuses the request."""
        load = self.load
        if load.held[name] + amount > load.most[name]:
            raise load.busy(f"{load.held[name]} {name} wait")
        load.held[name] += amount
        self.held[name] += amount

    def give_back(self, name: str) -> None:
        """Gives back all that was taken, such as for a body that is not kept."""
        self.load.held[name] -= self.held[name]
        self.held[name] = 0


ResultT = TypeVar("ResultT")


async def while_wanted(request: Request, load: Load, work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Returns the result of some work for a request whose body was read; stops it when nobody wants it any more."""
    task, gone = asyncio.create_task(work), asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({task, gone}, timeout=load.limits.answer_seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if gone.done():
            raise ClientDisconnect
        raise load.busy(f"a prediction takes longer than {load.limits.answer_seconds:g} s: send fewer samples")
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


_MMAP_THRESHOLD = -3


def keep_no_large_memory() -> None:
    """Makes glibc return blocks of some megabytes to the system as they are freed, such as those of decoded images."""
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 8 * 2**20)


def give_memory_back() -> None:
    """Makes glibc return all other freed memory."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
