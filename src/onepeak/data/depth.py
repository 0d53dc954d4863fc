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

    Or where somebody has said how many they hold, and none is a 16-bit picture.

    Args:
        pictures: Files, or what is in them.
        bits: How many 16-bit ones are taken to hold, where that was said.
    """
    if not pictures:
        return ()
    places = np.unique(np.linspace(0, len(pictures) - 1, _LOOKED_AT).round().astype(int)).tolist()
    found = [highest for place in places if (highest := _highest(pictures[place])) is not None]
    if bits is not None:
        looked_at = counted(len(places), "picture")
        return () if found else (f"`bits` {bits} does nothing here: none of {looked_at} looked at is a 16-bit one",)
    if not found or not 0 < max(found) <= _HIGHEST_OF_12_BITS:
        return ()
    return (
        f"no value above {max(found):,} of 65,535 in {counted(len(found), '16-bit picture')} looked at, so that few of "
        "256 shades are left: if they hold 12 bits, train with `bits` 12 (--bits 12)",
    )


def _highest(picture: Path | bytes) -> int | None:
    try:
        return highest_of_16_bits(picture if isinstance(picture, bytes) else picture.read_bytes())
    except (OSError, ValueError):  # a name that no file can have; told of when all are decoded
        return None
