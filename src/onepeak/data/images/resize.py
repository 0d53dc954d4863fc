"""The recipe by which every image of a data set is resized, once, before it is stored.

Imports only Pillow, so that the decoding workers start fast.
"""

from dataclasses import dataclass

from onepeak._core.values import check_integer, check_number
from onepeak.data.images.decode import Image
from onepeak.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Resize:
    """A resize that keeps the proportions: first by the short side, then by a factor, in a single resampling.

    The paper's geometries (Belharbi et al. 2019): `Resize(short_side=768)`, half of the original size, for ICIAR;
    `Resize(short_side=532, only_enlarge=True, scale=0.5)` for FG-NET and AFAD, whose short side is then at least 266;
    `Resize()`, which keeps every image as it is, for HCI.

    Resampling is Pillow's bilinear, whose support grows when it shrinks an image, so that it does not alias.
    """

    short_side: int | None = None
    """Target length of the shorter side in pixels, before `scale`; None keeps it."""
    only_enlarge: bool = False
    """Whether to keep the size of images whose short side is already longer than `short_side`."""
    scale: float = 1.0
    """Factor for both sides, applied last."""

    def __post_init__(self) -> None:
        check_number("scale", self.scale, above=0.0)
        if self.short_side is not None:
            check_integer("short_side", self.short_side, minimum=1)
        elif self.only_enlarge:
            raise InputError("`only_enlarge` has no effect without `short_side`: give the side, or leave it out.")

    def size_of(self, height: int, width: int) -> tuple[int, int]:
        """Returns height and width after the resize: halves are rounded up, and no side is shorter than one pixel."""
        factor = self.scale
        if self.short_side is not None:
            to_side = self.short_side / min(height, width)
            factor *= max(1.0, to_side) if self.only_enlarge else to_side
        return _pixels(height * factor), _pixels(width * factor)

    def apply(self, image: Image.Image) -> Image.Image:
        """Returns the resized image; the same object if its size does not change."""
        height, width = self.size_of(image.height, image.width)
        if image.size == (width, height):
            return image
        return image.resize((width, height), Image.Resampling.BILINEAR)


def _pixels(side: float) -> int:
    # The tolerance makes a short side of 399 * (532 / 399) * .5 exactly 266, however the factor is rounded.
    return max(1, int(side + 0.5 + 1e-6))
