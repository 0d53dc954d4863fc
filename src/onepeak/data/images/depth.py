"""Checks whether 16-bit images use their full range: scanners often write 12 bits, which then look nearly black."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from onepeak._core.wording import counted, listed
from onepeak.data.images.decode import highest_of_16_bits

_SAMPLE = 16
_HIGHEST_OF_12_BITS = 4095
_TO_TRAIN = "if they hold 12 bits, train with `bits` 12 (--bits 12)"
_TO_ASK = (
    "predictions mean little unless the model was trained on images as dark. If they hold 12 bits, rescale them to "
    "fill 16, or use a model that was trained with `bits` 12 (onepeak train --bits 12)"
)


def depth_notes(
    images: Sequence[Path | bytes], bits: int | None, *, asked: bool = False, names: Sequence[str] = ()
) -> tuple[str, ...]:
    """Returns a note if the 16-bit images in a sample of the data hold no value of more than 12 bits.

    With `bits`, how many bits 16-bit images hold, it returns a note if no image of the sample has 16 bits. `asked` says
    that the images are for prediction, when it is too late to change the training. Without `names`, files are named if
    the note does not concern the whole sample.
    """
    if not images:
        return ()
    sample = np.unique(np.linspace(0, len(images) - 1, _SAMPLE).round().astype(int)).tolist()
    highest = {index: value for index in sample if (value := _highest(images[index])) is not None}
    if bits is not None:
        checked = counted(len(sample), "image")
        return () if highest else (f"`bits` {bits} has no effect: none of {checked} checked has 16 bits",)
    # An all-zero image is black with any number of bits.
    dark = {index: value for index, value in highest.items() if 0 < value <= _HIGHEST_OF_12_BITS}
    if not dark:
        return ()
    which = [names[index] for index in dark] if names else []
    if not names and len(dark) < len(sample):
        which = [image.name for index in dark if isinstance(image := images[index], Path)]
    return (
        f"no value above {max(dark.values()):,} of 65,535 in {counted(len(dark), '16-bit image')} checked"
        f"{f' ({listed(which, limit=3)})' if which else ''}, which leaves few of 256 shades: "
        f"{_TO_ASK if asked else _TO_TRAIN}",
    )


def _highest(image: Path | bytes) -> int | None:
    try:
        return highest_of_16_bits(image if isinstance(image, bytes) else image.read_bytes())
    except (OSError, ValueError):  # ValueError: an impossible file name; both are reported when the images are decoded
        return None
