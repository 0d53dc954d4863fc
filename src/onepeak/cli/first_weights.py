"""What `onepeak train` and `onepeak compare` say of the weights that a network begins with."""

from pathlib import Path

from onepeak.errors import in_documentation
from onepeak.networks.own_backbone import is_own

_LEARNS_ALONE = ("small", "mlp")
"""Backbones that are made to begin with nothing; what the user's own begin with is his to say."""


def first_weights_notes(backbone: str, weights: Path | None) -> tuple[str, ...]:
    """A note where a large network has to learn to see from the data at hand alone.

    Args:
        backbone: Its name.
        weights: The file it begins with, None for random numbers.

    Example:
        >>> first_weights_notes("small", None)
        ()
        >>> first_weights_notes("resnet18", None)[0][:44]
        'resnet18 begins with random weights: give --'
    """
    if weights is not None or backbone in _LEARNS_ALONE or is_own(backbone):
        return ()
    return (
        f"{backbone} begins with random weights: give --weights FILE, trained before, or expect much larger errors on "
        f"photographs. How to get such a file: {in_documentation('images')}",
    )
