"""How much a server takes on: every bound in one place."""

from dataclasses import dataclass

from onepeak._values import check_integer, check_number
from onepeak.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a request may hold, and how much may wait at once; what goes beyond is answered with 413, 408 or 503.

    Example:
        >>> Limits(max_items=0)
        Traceback (most recent call last):
        onepeak.errors.InputError: `max_items` must be an integer >= 1, got 0.
    """

    max_bytes: int = 32_000_000
    """Of the body of one request."""
    max_items: int = 256
    """Pictures in one request."""
    max_rows: int = 10_000
    """Rows of a table in one request."""
    max_pixels: int = 50_000_000
    """Of one image, known from its header: an image with more is refused before it is decoded."""
    max_network_pixels: int = 8_000_000
    """Of one image as the network sees it, resized where the model does that: what memory and time grow with. By
    default about as many as a whole batch of usual images has."""
    upload_seconds: float = 30.0
    """For the whole body of a request to arrive."""
    max_requests: int = 512
    """Requests that wait for their answers at once."""
    max_buffered_bytes: int = 512_000_000
    """Of all bodies that have arrived, or begun to arrive, and are not answered yet."""

    def __post_init__(self) -> None:
        pixels = ("max_pixels", "max_network_pixels")
        for name in ("max_bytes", "max_items", "max_rows", *pixels, "max_requests", "max_buffered_bytes"):
            check_integer(name, getattr(self, name), minimum=1)
        check_number("upload_seconds", self.upload_seconds, above=0)
        if self.max_buffered_bytes < self.max_bytes:
            raise InputError(
                f"`max_buffered_bytes` must be at least `max_bytes`, {self.max_bytes}, got {self.max_buffered_bytes}."
            )
