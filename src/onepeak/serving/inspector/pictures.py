"""Images of samples for the browser: thumbnails for the grid, made when first shown and cached."""

import io
from typing import final

from onepeak.report.source import Source
from onepeak.report.thumbnails import small
from onepeak.serving.inspector.bounded_cache import BoundedCache

LARGE_SIDE = 1024
"""The longest side of the large image, in pixels."""
_MOST_BYTES = 64 * 2**20


@final
class Pictures:
    """Reads images from the data one at a time; only thumbnails are cached.

    Args:
        source: The data.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._small: BoundedCache[bytes] = BoundedCache(most=_MOST_BYTES, size=len)

    def thumbnail(self, place: int) -> bytes:
        """Returns a JPEG of at most 160 pixels per side; empty if there is no image."""
        return self._small.get(place, lambda: self._encoded(place))

    def large(self, place: int) -> bytes | None:
        """Returns a PNG, full size or reduced to `LARGE_SIDE`; None if there is no image."""
        picture = self.source.picture(place)
        if picture is None:
            return None
        picture.thumbnail((LARGE_SIDE, LARGE_SIDE))
        file = io.BytesIO()
        picture.save(file, format="PNG", compress_level=1)
        return file.getvalue()

    def _encoded(self, place: int) -> bytes:
        picture = self.source.picture(place)
        if picture is None:
            return b""
        file = io.BytesIO()
        small(picture).save(file, format="JPEG", quality=85)
        return file.getvalue()
