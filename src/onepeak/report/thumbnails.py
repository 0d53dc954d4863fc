"""Small pictures that travel inside a page."""

import base64
import io

import numpy as np
import numpy.typing as npt

from onepeak.data.pillow import Image

SIDE = 160
"""The most pixels of a side."""


def thumbnail(picture: Image.Image) -> str:
    """The picture, made small, as a data address.

    Example:
        >>> thumbnail(Image.new("RGB", (400, 200)))[:22]
        'data:image/jpeg;base64'
    """
    file = io.BytesIO()
    small(picture).save(file, format="JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"


def pixels(picture: Image.Image) -> npt.NDArray[np.uint8]:
    """The picture, made small, as an array."""
    return np.asarray(small(picture), dtype=np.uint8)


def small(picture: Image.Image) -> Image.Image:
    """A copy whose longer side is at most `SIDE` pixels."""
    copy = picture.convert("RGB")
    copy.thumbnail((SIDE, SIDE))
    return copy
