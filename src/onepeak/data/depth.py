"""Whether 16-bit pictures use their range: those of scanners often hold 12 bits, and are then nearly black."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from onepeak.data.decode import highest_of_16_bits
from onepeak.data.listing import counted

_LOOKED_AT = 16
_HIGHEST_OF_12_BITS = 4095


def depth_notes(pictures: Sequence[Path | bytes], bits: int | None) -> tuple[str, ...]:
    """A note where the 16-bit pictures among some, spread over the data, hold no value of more than 12 bits.

    Args:
        pictures: Files, or what is in them.
        bits: How many they are taken to hold; where somebody has said so there is nothing to tell.
    """
    if bits is not None or not pictures:
        return ()
    places = np.unique(np.linspace(0, len(pictures) - 1, _LOOKED_AT).round().astype(int)).tolist()
    found = [highest for place in places if (highest := _highest(pictures[place])) is not None]
    if not found or not 0 < max(found) <= _HIGHEST_OF_12_BITS:
        return ()
    return (
        f"no value above {max(found):,} of 65,535 in {counted(len(found), '16-bit picture')} looked at, so that few of "
        "256 shades are left: if they hold 12 bits, train with `bits` 12 (--bits 12)",
    )


def _highest(picture: Path | bytes) -> int | None:
    try:
        return highest_of_16_bits(picture if isinstance(picture, bytes) else picture.read_bytes())
    except OSError:  # told of when all are decoded
        return None
