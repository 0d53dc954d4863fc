"""The recipe by which every picture of a data set is resized, once, before it is stored."""

from dataclasses import dataclass

from onepeak._values import check_integer, check_number
from onepeak.data.scaling import scaled_size
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
        """Height and width of a picture after this resize."""
        return scaled_size(height, width, self.short_side, only_enlarge=self.only_enlarge, scale=self.scale)
