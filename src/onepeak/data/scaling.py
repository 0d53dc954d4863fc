"""The arithmetic and the resampling of a resize. Imports Pillow alone, as decoding workers do."""

from onepeak.data.pillow import Image


def scaled_size(
    height: int, width: int, short_side: int | None, *, only_enlarge: bool, scale: float
) -> tuple[int, int]:
    """Height and width after a resize: halves are rounded up, and no side falls below one pixel.

    Example:
        >>> scaled_size(300, 400, 150, only_enlarge=False, scale=1.0)
        (150, 200)
    """
    factor = scale
    if short_side is not None:
        to_side = short_side / min(height, width)
        factor *= max(1.0, to_side) if only_enlarge else to_side
    return _pixels(height * factor), _pixels(width * factor)


def _pixels(side: float) -> int:
    # A tiny allowance, so that a short side of 399 * (532 / 399) * .5 is 266 whatever the rounding of the factor.
    return max(1, int(side + 0.5 + 1e-6))


def scale_picture(picture: Image.Image, height: int, width: int) -> Image.Image:
    """Resamples to a size with Pillow's bilinear filter, which does not alias when it shrinks."""
    if picture.size == (width, height):
        return picture
    return picture.resize((width, height), Image.Resampling.BILINEAR)
