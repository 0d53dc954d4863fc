"""Names and checks of the tensors that flow through a network."""

from typing import TYPE_CHECKING, TypeAlias

from torch import Tensor

from onepeak.errors import InputError

if TYPE_CHECKING:
    Images: TypeAlias = Tensor
    Rows: TypeAlias = Tensor
    Features: TypeAlias = Tensor
    Maps: TypeAlias = Tensor
    Evidence: TypeAlias = Tensor
    ClassMaps: TypeAlias = Tensor
else:
    try:
        from jaxtyping import Float
    except ImportError:
        Images = Rows = Features = Maps = Evidence = ClassMaps = Tensor
    else:
        Images = Float[Tensor, "batch 3 height width"]
        Rows = Float[Tensor, "batch columns"]
        Features = Float[Tensor, "batch features"]
        Maps = Float[Tensor, "batch channels map_height map_width"]  # from a backbone
        Evidence = Float[Tensor, "batch outputs map_height map_width"]  # from a head, before pooling
        ClassMaps = Float[Tensor, "batch map_height map_width"]  # one map per sample


def check_images(images: Tensor) -> None:
    """Checks for floating point and shape (batch, 3, height, width)."""
    if not isinstance(images, Tensor) or not images.is_floating_point():
        found = images.dtype if isinstance(images, Tensor) else type(images).__name__
        raise InputError(f"`images` must be a floating-point tensor, scaled as in training, got {found}.")
    if images.ndim != 4 or images.shape[1] != 3:
        raise InputError(f"`images` must have shape (batch, 3, height, width), got {tuple(images.shape)}.")


def check_rows(rows: Tensor, num_features: int) -> None:
    """Checks for floating point and shape (batch, num_features)."""
    if not isinstance(rows, Tensor) or not rows.is_floating_point():
        found = rows.dtype if isinstance(rows, Tensor) else type(rows).__name__
        raise InputError(f"`rows` must be a floating-point tensor, got {found}.")
    if rows.ndim != 2 or rows.shape[1] != num_features:
        raise InputError(f"`rows` must have shape (batch, {num_features}), got {tuple(rows.shape)}.")
