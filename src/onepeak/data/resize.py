"""The recipe by which every picture of a data set is resized, once, before it is stored.

Imports Pillow alone, as decoding workers do.
"""

from dataclasses import dataclass

from onepeak._values import check_integer, check_number
from onepeak.data.pillow import Image
from onepeak.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Resize:
    """One resize that keeps the proportions: first the short side, then a factor, in a single resampling.

    The paper's geometries (Belharbi et al. 2019): `Resize(scale=0.5)` for ICIAR; `Resize(short_side=532,
    only_enlarge=True, scale=0.5)` for FG-NET and AFAD, whose short side is then at least 266; `Resize()`, which
    leaves every picture alone, for HCI.

    Resampling is Pillow's bilinear, which widens its support when it shrinks and so does not alias.

    Example:
        >>> Resize(short_side=532, only_enlarge=True, scale=0.5).size_of(399, 472)
        (266, 315)
    """

    short_side: int | None = None
    """Pixels that the shorter side shall have before `scale`; None leaves it."""
    only_enlarge: bool = False
    """Whether pictures whose short side is longer than `short_side` already are left at their size."""
    scale: float = 1.0
    """Factor on both sides, applied last."""

    def __post_init__(self) -> None:
        check_number("scale", self.scale, above=0.0)
        if self.short_side is not None:
            check_integer("short_side", self.short_side, minimum=1)
        elif self.only_enlarge:
            raise InputError("`only_enlarge` has no effect without `short_side`: give the side, or leave it out.")

    def size_of(self, height: int, width: int) -> tuple[int, int]:
        """Height and width of a picture after this resize: halves are rounded up, no side falls below one pixel."""
        factor = self.scale
        if self.short_side is not None:
            to_side = self.short_side / min(height, width)
            factor *= max(1.0, to_side) if self.only_enlarge else to_side
        return _pixels(height * factor), _pixels(width * factor)

    def apply(self, picture: Image.Image) -> Image.Image:
        """The picture after this resize; the same one where its size stays."""
        height, width = self.size_of(picture.height, picture.width)
        if picture.size == (width, height):
            return picture
        return picture.resize((width, height), Image.Resampling.BILINEAR)


def _pixels(side: float) -> int:
    # A tiny allowance, so that a short side of 399 * (532 / 399) * .5 is 266 whatever the rounding of the factor.
    return max(1, int(side + 0.5 + 1e-6))
