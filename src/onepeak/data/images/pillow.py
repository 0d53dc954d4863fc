"""Imports Pillow; if it is missing, the error names the extra to install."""

from onepeak._core.imports import require

require("PIL", extra="data", purpose="Reading images")  # a clearer error than that of the import below

from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError  # noqa: E402

__all__ = ["Image", "ImageFile", "ImageOps", "UnidentifiedImageError"]
