"""Pictures of samples as a browser wants them: small ones for the grid, made when first seen and kept for a while."""

import io
from typing import final

from onepeak.report.source import Source
from onepeak.report.thumbnails import small
from onepeak.serving.inspector.bounded_cache import BoundedCache

LARGE_SIDE = 1024
"""The most pixels of a side of the large image."""
_MOST_BYTES = 64 * 2**20


@final
class Pictures:
    """Reads images from the data one at a time; only small encoded ones are kept.

    Args:
        source: The data.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._small: BoundedCache[bytes] = BoundedCache(most=_MOST_BYTES, size=len)

    def thumbnail(self, place: int) -> bytes:
        """JPEG, at most 160 pixels a side; empty where there is no image."""
        return self._small.get(place, lambda: self._encoded(place))

    def large(self, place: int) -> bytes | None:
        """PNG, as it is or made smaller to `LARGE_SIDE`; None where there is no image."""
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
