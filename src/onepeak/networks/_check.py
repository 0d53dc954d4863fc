"""Checks of network inputs; see `onepeak._check`."""

from torch import Tensor

from onepeak.errors import InputError


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
