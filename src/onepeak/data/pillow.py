"""Pillow, which reads and draws pictures; where it is missing, the extra that brings it is named."""

from onepeak._extras import require

require("PIL", extra="data", purpose="Work with pictures")  # before the import below fails for want of it

from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError  # noqa: E402

__all__ = ["Image", "ImageFile", "ImageOps", "UnidentifiedImageError"]
